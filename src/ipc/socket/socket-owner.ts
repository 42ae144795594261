import { type FSWatcher, type Stats, unlinkSync, watch } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { dirname } from 'node:path';
import { type Clock, systemClock } from '../../shared/clock.js';
import { bindSocket, isAnswered } from './bind-socket.js';
import { AlreadyRunningError, holderOf, readOwner, type SocketLock, tryLock } from './socket-lock.js';
import { checkSocketPath, look, prepareSocketFolder, tightenModes } from './socket-path.js';

/**
 * One daemon per socket. The daemon that holds the lock beside the socket owns it, and only the holder replaces a stale
 * socket. A daemon first claims the socket, so that a second daemon ends before it changes anything, and calls `listen`
 * when it has a herd to serve.
 */
export interface SocketClaim {
  /** Releases the claim if it fails. */
  listen(options: ListenOptions): Promise<SocketOwner>;
  /** Releases the claim without listening. */
  release(): void;
}

export interface ListenOptions {
  /** Sockets come with `allowHalfOpen`. */
  onConnection: (socket: Socket) => void;
  onProblem?: (problem: SocketProblem) => void;
  clock?: Clock;
}

/**
 * - `restored`: the socket was deleted, and this daemon made it again;
 * - `lost`: it was deleted, and to make it again failed; the daemon keeps trying;
 * - `stolen`: another file is at its path, which is left alone; open connections are still served;
 * - `loosened`: the mode of the socket or its folder let other users in, and was set back;
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

/** A watch on the folder notices changes at once; this check notices them where the watch fails. */
const CHECK_MS = 2000;

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
    if (this.#isClosed()) return this.#remove();
    server.on('error', (error) => this.#report('refused', `cannot accept a connection: ${error.message}`));
    before?.close();
    this.#state = 'ours';
    this.#watch();
  }

  /**
   * Removes the socket if it is still ours. Open connections stay, and no other daemon may serve before `close`. A bridge
   * whose connection breaks looks for the socket: without one it knows that the daemon did not crash.
   */
  hide(): void {
    if (this.#isClosed()) return;
    this.#state = 'closed';
    this.#watcher?.close();
    this.#clock.clearTimeout(this.#timer);
    this.#remove();
  }

  /** The same, and releases the lock. */
  close(): void {
    this.hide();
    this.#lock.release();
  }

  #remove(): void {
    if (this.#isOurs(look(this.path))) unlinkSync(this.path);
    this.#server?.close();
  }

  #watch(): void {
    this.#watcher?.close();
    try {
      this.#watcher = watch(dirname(this.path), () => this.#check());
      this.#watcher.on('error', () => undefined);
    } catch {
      this.#watcher = undefined;
    }
    this.#checkLater();
  }

  #checkLater(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = this.#clock.setTimeout(() => {
      this.#checkLater();
      this.#check();
    }, CHECK_MS);
  }

  #check(): void {
    if (this.#state === 'closed' || this.#state === 'opening') return;
    const there = look(this.path);
    if (this.#isOurs(there)) {
      this.#state = 'ours';
      this.#tighten();
    } else if (there === undefined) void this.#restore(this.#state);
    else this.#become('stolen', `another program has replaced this daemon's socket ${this.path}`);
  }

  /** Node cannot tell which user connects, so only these modes keep other users out. */
  #tighten(): void {
    try {
      for (const path of tightenModes(this.path)) {
        this.#report('loosened', `${path} had been opened to other users; it is closed to them again`);
      }
      this.#cannotTighten = undefined;
    } catch (error) {
      const message = `${this.path} may be open to other users: ${(error as Error).message}`;
      // reported once, however often it fails
      if (message !== this.#cannotTighten) this.#report('loosened', message);
      this.#cannotTighten = message;
    }
  }

  async #restore(before: 'ours' | 'stolen' | 'lost'): Promise<void> {
    this.#state = 'opening';
    try {
      prepareSocketFolder(this.path);
      if (this.#renewLock()) {
        await this.open('nothing');
        this.#report('restored', `${this.path} was deleted; it is there again`);
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

  /** The lock file may have been deleted with the socket. Then the new file of its name must be locked. */
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

  /** Reported once, however often it is seen. */
  #become(state: 'stolen' | 'lost', message: string): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#report(state, message);
  }

  #report(kind: SocketProblem['kind'], message: string): void {
    this.#options.onProblem?.({ kind, message });
  }
}

export function lockFileOf(path: string): string {
  return `${path}.lock`;
}

/** The daemon that waits to replace the owner of the socket holds the lock of this file. */
export function successorFileOf(path: string): string {
  return `${path}.next`;
}
