import { randomBytes } from 'node:crypto';
import type { Clock } from '../../shared/clock.js';
import type { FleetServer } from '../server/socket-server.js';
import { HerdConnection } from './herd-connection.js';
import type { Refusal } from './refusal.js';
import { isSameScope, type Scope } from './routes.js';
import { HttpSession } from './session.js';

export interface SessionsOptions {
  server: Pick<FleetServer, 'accept'>;
  clock: Clock;
}

export const MAX_SESSIONS = 256;
/** A session that nobody listens to, waits for or has used for so long is forgotten. */
export const IDLE_MS = 30 * 60_000;
const LOOK_MS = 60_000;
/** Nobody guesses it. */
const ID_BYTES = 24;

interface Open {
  session: HttpSession;
  connection: HerdConnection;
}

/** The sessions of streamable HTTP that are open. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #open = new Map<string, Open>();
  #opening = 0;
  #timer: unknown;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  async open(place: Scope): Promise<HttpSession | Refusal> {
    if (this.#open.size + this.#opening >= MAX_SESSIONS && !this.#makeRoom()) {
      const why = 'in each of them somebody listens or waits';
      const fix = 'end sessions with DELETE when they are not needed any more';
      return { status: 503, message: `${MAX_SESSIONS} sessions are open`, why, fix };
    }
    const { server, clock } = this.#options;
    const id = randomBytes(ID_BYTES).toString('base64url');
    const connection = new HerdConnection({
      place,
      server,
      heard: (message) => this.#open.get(id)?.session.hear(message),
      closed: () => this.#closed(id),
    });
    this.#opening += 1;
    const refusal = await connection.greet();
    this.#opening -= 1;
    if (refusal !== undefined) return refusal;
    const say = (line: string | Buffer) => connection.say(line);
    const session = new HttpSession({ id, place, clock, say, onFailed: () => this.close(id) });
    this.#open.set(id, { session, connection });
    if (this.#open.size === 1) this.#lookLater();
    return session;
  }

  /** One that belongs to another part of the herd is as unknown as one that never was. */
  find(id: string, place: Scope): HttpSession | undefined {
    const session = this.#open.get(id)?.session;
    return session !== undefined && isSameScope(session.place, place) ? session : undefined;
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

  /** The one that was not used for the longest time goes. */
  #makeRoom(): boolean {
    const idle = [...this.#open.values()].map(({ session }) => session).filter(({ isBusy }) => !isBusy);
    const [oldest] = idle.sort((one, other) => other.idleMs - one.idleMs);
    if (oldest !== undefined) this.close(oldest.id);
    return oldest !== undefined;
  }

  #lookLater(): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#timer);
    this.#timer = clock.setTimeout(() => {
      for (const { session } of [...this.#open.values()]) {
        if (session.idleMs >= IDLE_MS) this.close(session.id);
      }
      if (this.#open.size > 0) this.#lookLater();
    }, LOOK_MS);
  }
}
