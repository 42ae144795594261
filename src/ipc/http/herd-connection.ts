import type { FleetServer } from '../server/fleet-server.js';
import { headOf, parse } from './message-head.js';
import type { Refusal } from './refusal.js';
import type { Scope } from './routes.js';
import { type LineChunks, VirtualConnection } from './virtual-connection.js';

export interface HerdConnectionOptions {
  scope: Scope;
  server: Pick<FleetServer, 'accept'>;
  /** Called with every message except the replies to `request`. */
  onMessage(message: LineChunks): void;
  onClosed(): void;
  /** The connection serves one request. A call that waits for its client outlives it. */
  isStateless?: boolean;
}

const STATUS: Readonly<Record<string, number>> = {
  ServerNotFoundError: 404,
  ProfileNotFoundError: 404,
  TrustRequiredError: 403,
  OverloadedError: 503,
};

const DAEMON_ENDS: Refusal = { status: 503, message: 'the daemon ends' };

/**
 * The connection of an HTTP client to the herd. It is a connection like one of the socket, so ids, progress, requests of
 * servers, logs and cancellation work the same way.
 */
export class HerdConnection {
  readonly #options: HerdConnectionOptions;
  readonly #connection: VirtualConnection;
  #answered: ((message: LineChunks | undefined) => void) | undefined;

  constructor(options: HerdConnectionOptions) {
    this.#options = options;
    this.#connection = new VirtualConnection(
      (message) => this.#receive(message),
      () => {
        this.#answered?.(undefined);
        options.onClosed();
      },
    );
    const { isStateless = false, scope, server } = options;
    const { agentFiles } = scope;
    server.accept(this.#connection.stream, { isStateless, via: 'http', agentFiles });
  }

  /** Chooses the scope. Answers with a refusal where the herd does not have it. */
  async hello(): Promise<Refusal | undefined> {
    const { server, agent, profile, separator, surface } = this.#options.scope;
    const reply = await this.request('fleet/hello', { server, agent, profile, separator, surface });
    if (reply === undefined) return DAEMON_ENDS;
    const head = headOf(reply);
    const isRefused = head?.kind === 'reply' && head.isError;
    const hasScope = (server ?? agent ?? profile) !== undefined;
    // a daemon that ends opens no view and looks up no server: the client would see the whole herd
    if (!isRefused && !(hasScope && isEnding(reply))) return undefined;
    this.destroy();
    return isRefused ? refusalOf(reply) : DAEMON_ENDS;
  }

  /** A request of this class, before the messages of the client. Resolves with undefined where the connection ends. */
  request(method: string, params: unknown): Promise<LineChunks | undefined> {
    return new Promise((resolve) => {
      this.#answered = resolve;
      this.send(JSON.stringify({ jsonrpc: '2.0', id: 0, method, params }));
    });
  }

  send(line: string | Buffer): void {
    this.#connection.send(line);
  }

  /** Cancels everything that is in flight. */
  destroy(): void {
    this.#connection.destroy();
  }

  #receive(message: LineChunks): void {
    const answered = this.#answered;
    if (answered === undefined) this.#options.onMessage(message);
    else if (headOf(message)?.kind === 'reply') {
      this.#answered = undefined;
      answered(message);
    }
  }
}

function isEnding(hello: LineChunks): boolean {
  const { result } = parse(hello) as { result?: { daemon?: { closing?: unknown } } };
  return Boolean(result?.daemon?.closing);
}

function refusalOf(message: LineChunks): Refusal {
  const { error } = parse(message) as {
    error: { code: number; message: string; data?: { type?: string; why?: string; fix?: string } };
  };
  const { type = '', why, fix } = error.data ?? {};
  return { status: STATUS[type] ?? 400, code: error.code, message: error.message, why, fix, data: { type } };
}
