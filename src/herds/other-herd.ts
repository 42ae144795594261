import { connect, type Socket } from 'node:net';
import type { Fleet, ServerStatus } from '../fleet/fleet.js';
import { TransportError, type TransportFailure } from '../link/failures/transport-failure.js';
import type { HerdPort } from '../link/remote/remote-transport.js';
import { withTimeout } from '../shared/async.js';
import type { Clock } from '../shared/clock.js';
import { codeOf } from '../shared/errors.js';

/** The open connection to the daemon of another herd. */
export interface HerdConnection {
  /** The socket on this machine that leads there. */
  path: string;
  fleet: Fleet;
}

/** For how long the connection to a server waits for that of its herd, and how long after a loss it begins to wait. */
const HOLD_MS = 20_000;

/**
 * What this daemon knows of another herd, from one connection to the next: its servers, as its daemon last described them,
 * and why it is away. The link of the herd writes it.
 */
export class OtherHerd implements HerdPort {
  readonly name: string;
  readonly #clock: Clock;
  #connection: HerdConnection | undefined;
  /** `coming`: a connection is being opened, or follows a lost one at once. */
  #state: 'coming' | 'up' | 'away' = 'coming';
  #why = 'the connection is being opened';
  #since: number;
  /** When it was last up, by the clock. */
  #lastUp = Number.NEGATIVE_INFINITY;
  #servers: ReadonlyMap<string, ServerStatus> = new Map();
  readonly #decided = new Set<() => void>();
  readonly #listeners = new Set<(failure: TransportFailure) => void>();
  /** The last daemon there was shut down by an order: it is not started from here. */
  wasShutDown = false;

  constructor(name: string, clock: Clock, now: number) {
    this.name = name;
    this.#clock = clock;
    this.#since = now;
  }

  get connection(): HerdConnection | undefined {
    return this.#connection;
  }

  /** Why it is away. */
  get why(): string {
    return this.#why;
  }

  /** When it came up, or was lost; a date. */
  get since(): number {
    return this.#since;
  }

  /** As its daemon last described them, by their names there. */
  get servers(): ReadonlyMap<string, ServerStatus> {
    return this.#servers;
  }

  /** A connection is being opened. */
  begun(): void {
    this.#state = 'coming';
  }

  opened(connection: HerdConnection, now: number): void {
    this.#connection = connection;
    this.#state = 'up';
    this.#since = now;
    this.#decide();
  }

  /**
   * `comesBack`: no order ended the connection. Then calls wait for the next one, for a while: a daemon that is replaced
   * is away for some tries.
   */
  lost(why: string, now: number, comesBack: boolean): void {
    const wasUp = this.#state === 'up';
    if (wasUp) {
      this.#since = now;
      this.#lastUp = this.#clock.now();
    }
    this.#connection = undefined;
    this.#why = why;
    const isHeld = comesBack && !this.wasShutDown && this.#clock.now() - this.#lastUp < HOLD_MS;
    this.#state = isHeld ? 'coming' : 'away';
    this.#decide();
    for (const listen of [...this.#listeners]) listen(this.#failure());
  }

  /** The status of all its servers. */
  replace(statuses: readonly ServerStatus[]): void {
    this.#servers = new Map(statuses.map((status) => [status.name, status]));
  }

  /** The status of some of them. */
  update(statuses: readonly ServerStatus[]): void {
    const known = statuses.filter(({ name }) => this.#servers.has(name));
    this.#servers = new Map([...this.#servers, ...known.map((status) => [status.name, status] as const)]);
  }

  async dial(): Promise<Socket> {
    if (this.#state === 'coming') {
      const decided = new Promise<void>((resolve) => {
        this.#decided.add(resolve);
      });
      await withTimeout(HOLD_MS, decided, this.#clock);
    }
    if (this.#connection === undefined) throw new TransportError(this.#failure());
    return opened(this.#connection.path);
  }

  onLost(listen: (failure: TransportFailure) => void): () => void {
    const listener = (failure: TransportFailure) => listen(failure);
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #decide(): void {
    if (this.#state === 'coming') return;
    for (const resolve of this.#decided) resolve();
    this.#decided.clear();
  }

  #failure(): TransportFailure {
    return { kind: 'herd', herd: this.name, why: this.#why };
  }
}

function opened(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket));
    socket.once('error', (error) =>
      reject(new TransportError({ kind: 'unreachable', code: codeOf(error), message: error.message })),
    );
  });
}
