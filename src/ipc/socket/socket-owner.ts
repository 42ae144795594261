import { type FSWatcher, type Stats, unlinkSync, watch } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { dirname } from 'node:path';
import { type Clock, systemClock } from '../../shared/clock.js';
import { bindSocket, isAnswered } from './bind-socket.js';
import { AlreadyRunningError, holderOf, readOwner, type SocketLock, tryLock } from './socket-lock.js';
import { checkSocketPath, look, prepareSocketFolder, tightenPlace } from './socket-path.js';

/**
 * One daemon per socket. Whoever has the lock beside the socket owns it; only under the lock is a stale socket
 * replaced. First the claim, so that a second daemon ends before it touches anything; then `listen`, when there is a
 * herd to serve.
 */
export interface SocketClaim {
  /** Gives the claim up if it fails. */
  listen(options: ListenOptions): Promise<SocketOwner>;
  /** Gives the claim up without having listened. */
  release(): void;
}

export interface ListenOptions {
  /** Sockets come with `allowHalfOpen`. */
  onConnection: (socket: Socket) => void;
  onTrouble?: (trouble: SocketProblem) => void;
  clock?: Clock;
}

/**
 * - `restored`: the socket was deleted, and is there again;
 * - `lost`: it was deleted and cannot be made again; it is tried again;
 * - `stolen`: another has taken its place, which is left alone; open connections are still served;
 * - `loosened`: somebody opened the socket or its folder to others; both are closed to them again;
 * - `refused`: a connection could not be accepted.
 */
export interface SocketProblem {
  kind: 'restored' | 'lost' | 'stolen' | 'loosened' | 'refused';
  message: string;
}

/** Claims a socket that no daemon has. One that a successor waits for (see `replaceOwner`) is left to it. */
export async function claimSocket(path: string): Promise<SocketClaim> {
  prepareSocketFolder(path);
  const lock = await lockSocket(path);
  if (lock === 'locked') throw new AlreadyRunningError(path, await readOwner(lockFileOf(path)));
  if (lock === 'answered') throw new AlreadyRunningError(path, null);
  // asked under the lock: a successor that registers later finds this daemon, and replaces it
  const successor = holderOf(successorFileOf(path));
  if (successor === undefined) return claimUnder(lock, path);
  lock.release();
  throw new AlreadyRunningError(path, successor, 'is about to serve');
}

/** The lock of a socket; or why a daemon has the socket: it has the lock, or it answers though its lock file was removed. */
export async function lockSocket(path: string): Promise<SocketLock | 'locked' | 'answered'> {
  const lock = tryLock(lockFileOf(path));
  if (lock === undefined) return 'locked';
  try {
    checkSocketPath(path);
    if (!(await isAnswered(path))) return lock;
  } catch (error) {
    lock.release();
    throw error;
  }
  lock.release();
  return 'answered';
}

export function claimUnder(lock: SocketLock, path: string): SocketClaim {
  return {
    release: () => lock.release(),
    async listen(options) {
      const owner = new SocketOwner(path, lock, options);
      try {
        await owner.open('stale');
      } catch (error) {
        lock.release();
        throw error;
      }
      return owner;
    },
  };
}

/** Deletion and theft are noticed by watching the folder; where that fails, by looking. */
const LOOK_MS = 2000;

export class SocketOwner {
  readonly path: string;
  readonly #options: ListenOptions;
  readonly #clock: Clock;
  #lock: SocketLock;
  #server: Server | undefined;
  #inode: Stats | undefined;
  #state: 'opening' | 'ours' | 'stolen' | 'lost' | 'closed' = 'opening';
  #watcher: FSWatcher | undefined;
  #timer: unknown;
  #cannotTighten: string | undefined;

  constructor(path: string, lock: SocketLock, options: ListenOptions) {
    this.path = path;
    this.#lock = lock;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async open(replace: 'stale' | 'nothing'): Promise<void> {
    const { server, inode } = await bindSocket(this.path, this.#options.onConnection, replace);
    const before = this.#server;
    this.#server = server;
    this.#inode = inode;
    if (this.#isClosed()) return this.#takeAway();
    server.on('error', (error) => this.#tell('refused', `cannot accept a connection: ${error.message}`));
    before?.close();
    this.#state = 'ours';
    this.#watch();
  }

  /** Takes the socket away if it is still ours, and gives up the lock. Open connections stay. */
  close(): void {
    if (this.#isClosed()) return;
    this.#state = 'closed';
    this.#watcher?.close();
    this.#clock.clearTimeout(this.#timer);
    this.#takeAway();
    this.#lock.release();
  }

  #takeAway(): void {
    if (this.#isOurs(look(this.path))) unlinkSync(this.path);
    this.#server?.close();
  }

  #watch(): void {
    this.#watcher?.close();
    try {
      this.#watcher = watch(dirname(this.path), () => this.#look());
      this.#watcher.on('error', () => undefined);
    } catch {
      this.#watcher = undefined;
    }
    this.#lookLater();
  }

  #lookLater(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = this.#clock.setTimeout(() => {
      this.#lookLater();
      this.#look();
    }, LOOK_MS);
  }

  #look(): void {
    if (this.#state === 'closed' || this.#state === 'opening') return;
    const there = look(this.path);
    if (this.#isOurs(there)) {
      this.#state = 'ours';
      this.#tighten();
    } else if (there === undefined) void this.#restore(this.#state);
    else this.#become('stolen', `another has taken the place of this daemon's socket ${this.path}`);
  }

  /** Node cannot ask who connects, so these modes are all that keeps others out. */
  #tighten(): void {
    try {
      for (const path of tightenPlace(this.path)) {
        this.#tell('loosened', `${path} had been opened to other users; it is closed to them again`);
      }
      this.#cannotTighten = undefined;
    } catch (error) {
      const message = `${this.path} may be open to other users: ${(error as Error).message}`;
      // told once, however often it is tried
      if (message !== this.#cannotTighten) this.#tell('loosened', message);
      this.#cannotTighten = message;
    }
  }

  async #restore(before: 'ours' | 'stolen' | 'lost'): Promise<void> {
    this.#state = 'opening';
    try {
      prepareSocketFolder(this.path);
      if (this.#renewLock()) {
        await this.open('nothing');
        this.#tell('restored', `${this.path} was deleted; it is there again`);
      } else {
        this.#state = before;
        this.#become('stolen', `${this.path} was deleted, and another daemon has taken its lock`);
      }
    } catch (error) {
      if (this.#isClosed()) return;
      this.#state = before;
      this.#become('lost', `${this.path} was deleted and cannot be made again: ${(error as Error).message}`);
    }
  }

  /** The lock file may be gone with the socket: then the new one of its name has to be locked too. */
  #renewLock(): boolean {
    if (this.#lock.isCurrent()) return true;
    const lock = tryLock(lockFileOf(this.path));
    if (lock === undefined) return false;
    this.#lock.release();
    this.#lock = lock;
    return true;
  }

  #isClosed(): boolean {
    return this.#state === 'closed';
  }

  #isOurs(there: Stats | undefined): boolean {
    return there !== undefined && there.ino === this.#inode?.ino && there.dev === this.#inode.dev;
  }

  /** Told once, however often it is seen. */
  #become(state: 'stolen' | 'lost', message: string): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#tell(state, message);
  }

  #tell(kind: SocketProblem['kind'], message: string): void {
    this.#options.onTrouble?.({ kind, message });
  }
}

export function lockFileOf(path: string): string {
  return `${path}.lock`;
}

/** Its lock is held by the daemon that waits for the socket in order to replace the one that has it. */
export function successorFileOf(path: string): string {
  return `${path}.next`;
}
