import { connect, type Socket } from 'node:net';

export interface Reply {
  id: number;
  /** The text of the tool. Undefined if it was not reached. */
  text: string | undefined;
  /** The type of the error otherwise. */
  error: string | undefined;
  /** `sent` of the reply. */
  sent: boolean | undefined;
}

/** By which words a call is made: both end in the same place. */
export type Vocabulary = 'fleet' | 'mcp';

interface Message {
  id?: unknown;
  error?: { message?: string; data?: { type?: string } };
  result?: {
    isError?: boolean;
    content?: { text?: string }[];
    error?: { type: string; sent: boolean } | null;
  };
}

/**
 * A client that counts: every line is a reply to one of its calls, or goes to `stray`. It keeps no more of a
 * call than its id, so that a million of them cost nothing here.
 */
export class Caller {
  readonly #socket: Socket;
  readonly #onReply: (reply: Reply) => void;
  readonly #stray: (line: string) => void;
  readonly #waiting = new Set<number>();
  #partial = '';
  #nextId = 1;
  #outgoing = '';

  constructor(path: string, onReply: (reply: Reply) => void, stray: (line: string) => void) {
    this.#onReply = onReply;
    this.#stray = stray;
    this.#socket = connect(path).setEncoding('utf8');
    this.#socket.on('data', (text: string) => this.#take(text));
    this.#socket.on('error', (error) => stray(String(error)));
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Calls `count` of a server with a key. Answers with the id that the reply will have. */
  call(server: string, key: string, words: Vocabulary = 'fleet', tool = 'count'): number {
    const id = this.#nextId++;
    this.#waiting.add(id);
    const line =
      words === 'fleet'
        ? `{"jsonrpc":"2.0","id":${id},"method":"fleet/call","params":{"server":"${server}","tool":"${tool}","arguments":{"key":"${key}"}}}\n`
        : `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${server}__${tool}","arguments":{"key":"${key}"}}}\n`;
    // all of one turn in one write
    if (this.#outgoing === '') setImmediate(() => this.#flush());
    this.#outgoing += line;
    return id;
  }

  /** What came twice comes before the end. */
  async end(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#socket.once('close', () => resolve());
      this.#socket.end();
    });
  }

  #flush(): void {
    const text = this.#outgoing;
    this.#outgoing = '';
    this.#socket.write(text);
  }

  #take(text: string): void {
    const lines = (this.#partial + text).split('\n');
    this.#partial = lines.pop() ?? '';
    for (const line of lines) {
      const message = JSON.parse(line) as Message;
      if (typeof message.id === 'number' && this.#waiting.delete(message.id))
        this.#onReply(readReply(message.id, message));
      else this.#stray(line);
    }
  }
}

function readReply(id: number, { result, error }: Message): Reply {
  if (error !== undefined) return failed(id, error.data?.type ?? String(error.message), undefined);
  const text = result?.content?.[0]?.text;
  if (result?.error != null) return failed(id, result.error.type, result.error.sent);
  if (result?.isError !== true) return { id, text, error: undefined, sent: true };
  // in the words of MCP an error is a text
  const [, type = 'none'] = /^(\w+): /.exec(text ?? '') ?? [];
  return failed(id, type, text?.includes('The call had been sent') ?? false);
}

function failed(id: number, error: string, sent: boolean | undefined): Reply {
  return { id, text: undefined, error, sent };
}
