import { connect, type Socket } from 'node:net';

/** The one outcome of a call. */
export interface Outcome {
  /** The text of the tool. */
  text?: string;
  /** The type of the error; `gone`: the daemon that was asked has ended. */
  error?: string;
  message?: string;
  sent?: boolean;
}

interface Reply {
  id?: unknown;
  error?: { message?: string; data?: { type?: string; sent?: boolean } };
  result?: { content?: { text?: string }[]; error?: { type: string; message: string; sent: boolean } | null };
}

/** A client of one daemon, which may be killed: every line is a reply to one of its calls, or a stray. */
export class ChaosClient {
  readonly strays: string[] = [];
  readonly #socket: Socket;
  readonly #waiting = new Map<number, (outcome: Outcome) => void>();
  #partial = '';
  #id = 0;
  #isClosed = false;

  constructor(path: string) {
    this.#socket = connect(path).setEncoding('utf8');
    this.#socket.on('data', (text: string) => this.#take(text));
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => {
      this.#isClosed = true;
      for (const settle of this.#waiting.values()) settle({ error: 'gone' });
      this.#waiting.clear();
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  call(server: string, args: Record<string, unknown>): Promise<Outcome> {
    if (this.#isClosed) return Promise.resolve({ error: 'gone', sent: false });
    this.#id += 1;
    const id = this.#id;
    const params = { server, tool: 'work', arguments: args };
    this.#socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'fleet/call', params })}\n`);
    return new Promise((resolve) => void this.#waiting.set(id, resolve));
  }

  end(): void {
    this.#socket.destroy();
  }

  #take(text: string): void {
    const lines = (this.#partial + text).split('\n');
    this.#partial = lines.pop() ?? '';
    for (const line of lines) {
      const reply = JSON.parse(line) as Reply;
      const settle = this.#waiting.get(Number(reply.id));
      this.#waiting.delete(Number(reply.id));
      if (settle === undefined) this.strays.push(line);
      else settle(outcomeOf(reply));
    }
  }
}

function outcomeOf({ error, result }: Reply): Outcome {
  if (error !== undefined)
    return { error: error.data?.type ?? `untyped: ${error.message}`, ...sentOf(error.data?.sent) };
  if (result?.error)
    return { error: result.error.type, message: result.error.message, sent: result.error.sent };
  return { text: result?.content?.[0]?.text ?? '' };
}

function sentOf(sent: boolean | undefined): Pick<Outcome, 'sent'> {
  return sent === undefined ? {} : { sent };
}
