import { randomBytes } from 'node:crypto';
import type { Clock } from '../../shared/clock.js';
import type { FleetServer } from '../server/fleet-server.js';
import { HerdConnection } from './herd-connection.js';
import type { Refusal } from './refusal.js';
import { isSameScope, type Scope } from './routes.js';
import { HttpSession } from './session.js';

export interface HttpSessionsOptions {
  server: Pick<FleetServer, 'accept'>;
  clock: Clock;
}

const MAX_SESSIONS = 256;
/** A session without an open response that received no request for this long is closed. */
const IDLE_MS = 30 * 60_000;
const CHECK_MS = 60_000;
/** Too many to be guessed. */
const ID_BYTES = 24;

interface Open {
  session: HttpSession;
  connection: HerdConnection;
}

/** The open sessions of streamable HTTP. */
export class HttpSessions {
  readonly #options: HttpSessionsOptions;
  readonly #open = new Map<string, Open>();
  #opening = 0;
  #timer: unknown;

  constructor(options: HttpSessionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  async open(scope: Scope): Promise<HttpSession | Refusal> {
    if (this.#open.size + this.#opening >= MAX_SESSIONS && !this.#makeRoom()) {
      const why = 'each of them has an open response';
      const fix = 'end sessions with DELETE when they are not needed any more';
      return { status: 503, message: `${MAX_SESSIONS} sessions are open`, why, fix };
    }
    const { server, clock } = this.#options;
    const id = randomBytes(ID_BYTES).toString('base64url');
    const connection = new HerdConnection({
      scope,
      server,
      onMessage: (message) => this.#open.get(id)?.session.receive(message),
      onClosed: () => this.#closed(id),
    });
    this.#opening += 1;
    const refusal = await connection.hello();
    this.#opening -= 1;
    if (refusal !== undefined) return refusal;
    const send = (line: string | Buffer) => connection.send(line);
    const session = new HttpSession({ id, scope, clock, send, onFailed: () => this.close(id) });
    this.#open.set(id, { session, connection });
    if (this.#open.size === 1) this.#checkLater();
    return session;
  }

  /** Undefined also for a session of another scope: a client must not learn that it exists. */
  find(id: string, scope: Scope): HttpSession | undefined {
    const session = this.#open.get(id)?.session;
    return session !== undefined && isSameScope(session.scope, scope) ? session : undefined;
  }

  close(id: string): void {
    this.#open.get(id)?.connection.destroy();
    this.#closed(id);
  }

  closeAll(): void {
    for (const id of [...this.#open.keys()]) this.close(id);
  }

  #closed(id: string): void {
    const open = this.#open.get(id);
    this.#open.delete(id);
    open?.session.end();
    if (this.#open.size === 0) this.#options.clock.clearTimeout(this.#timer);
  }

  /** Closes the session that was idle for the longest time. False where none is idle. */
  #makeRoom(): boolean {
    const idle = [...this.#open.values()].map(({ session }) => session).filter(({ isBusy }) => !isBusy);
    const [oldest] = idle.sort((one, other) => other.idleMs - one.idleMs);
    if (oldest !== undefined) this.close(oldest.id);
    return oldest !== undefined;
  }

  #checkLater(): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#timer);
    this.#timer = clock.setTimeout(() => {
      for (const { session } of [...this.#open.values()]) {
        if (session.idleMs >= IDLE_MS) this.close(session.id);
      }
      if (this.#open.size > 0) this.#checkLater();
    }, CHECK_MS);
  }
}
