import type { FleetServer } from '../server/socket-server.js';
import { headOf, parse } from './message-head.js';
import type { Refusal } from './refusal.js';
import type { Scope } from './routes.js';
import { type Message, VirtualConnection } from './virtual-connection.js';

export interface HerdConnectionOptions {
  place: Scope;
  server: Pick<FleetServer, 'accept'>;
  /** Hears what comes after our own questions have been answered. */
  heard(message: Message): void;
  closed(): void;
  /** For one request alone: a call that waits for its client outlives the connection. */
  isStateless?: boolean;
}

const STATUS: Readonly<Record<string, number>> = {
  ServerNotFoundError: 404,
  TrustRequiredError: 403,
  OverloadedError: 503,
};

const DAEMON_ENDS: Refusal = { status: 503, message: 'the daemon ends' };

/**
 * A virtual connection to the herd. Everything that the socket does for a connection (ids, progress, questions, logs,
 * cancellation) it does for a client of HTTP too, because it is one.
 */
export class HerdConnection {
  readonly #options: HerdConnectionOptions;
  readonly #connection: VirtualConnection;
  #answered: ((message: Message | undefined) => void) | undefined;

  constructor(options: HerdConnectionOptions) {
    this.#options = options;
    this.#connection = new VirtualConnection(
      (message) => this.#hear(message),
      () => {
        this.#answered?.(undefined);
        options.closed();
      },
    );
    const { isStateless = false, place, server } = options;
    const { agentFiles } = place;
    server.accept(this.#connection.stream, { isStateless, via: 'http', agentFiles });
  }

  /** Says which part of the herd is wanted; a refusal where there is none. */
  async greet(): Promise<Refusal | undefined> {
    const { server, agent } = this.#options.place;
    const reply = await this.ask('fleet/hello', { server, agent });
    if (reply === undefined) return DAEMON_ENDS;
    const head = headOf(reply);
    const isRefused = head?.kind === 'reply' && head.isError;
    const hasScope = (server ?? agent) !== undefined;
    // a daemon that ends opens no view and looks for no server: the client would see the whole herd
    if (!isRefused && !(hasScope && isEnding(reply))) return undefined;
    this.destroy();
    return isRefused ? refusalOf(reply) : DAEMON_ENDS;
  }

  /** A question of our own, before the client's messages have begun. Undefined when the connection ends. */
  ask(method: string, params: unknown): Promise<Message | undefined> {
    return new Promise((resolve) => {
      this.#answered = resolve;
      this.say(JSON.stringify({ jsonrpc: '2.0', id: 0, method, params }));
    });
  }

  say(line: string | Buffer): void {
    this.#connection.say(line);
  }

  /** Nobody listens any more: whatever is in flight is cancelled. */
  destroy(): void {
    this.#connection.destroy();
  }

  #hear(message: Message): void {
    const answered = this.#answered;
    if (answered === undefined) this.#options.heard(message);
    else if (headOf(message)?.kind === 'reply') {
      this.#answered = undefined;
      answered(message);
    }
  }
}

function isEnding(hello: Message): boolean {
  const { result } = parse(hello) as { result?: { daemon?: { closing?: unknown } } };
  return Boolean(result?.daemon?.closing);
}

function refusalOf(message: Message): Refusal {
  const { error } = parse(message) as {
    error: { code: number; message: string; data?: { type?: string; why?: string; fix?: string } };
  };
  const { type = '', why, fix } = error.data ?? {};
  return { status: STATUS[type] ?? 400, code: error.code, message: error.message, why, fix, data: { type } };
}
