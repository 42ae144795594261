import { spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { isAlive } from '../../processes/is-alive.js';
import { sleep } from '../../shared/async.js';
import { systemClock } from '../../shared/clock.js';
import { isCode, ToolherdError } from '../../shared/errors.js';
import { isOurs, look, SocketPathError } from './socket-path.js';

/** Another daemon owns the socket, or is about to. */
export class AlreadyRunningError extends ToolherdError {
  override readonly type: string = 'AlreadyRunningError';
  /** Of the owner; null where it is unknown. */
  readonly pid: number | null;

  constructor(
    path: string,
    pid: number | null,
    does: 'already serves' | 'is about to serve' = 'already serves',
  ) {
    super(`a daemon ${does} ${path}${pid === null ? '' : ` (pid ${pid})`}`, {
      fix: "use it, or replace it with 'toolherd up --replace'",
    });
    this.pid = pid;
  }
}

/**
 * A lock that the kernel releases when its holder dies, however it dies. Node cannot lock a file, so a small program
 * locks the file description that it shares with us, and exits. Pid files and "connect, then unlink" were tried: both
 * ended with two daemons.
 *
 * macOS has no flock(1), but it has perl. (Its open(2) has O_EXLOCK, 0x20, which needs no program; not tried.)
 */
const LOCKERS: readonly (readonly [string, ...string[]])[] = [
  ['flock', '-n', '3'],
  ['perl', '-e', 'open(my $f, "+<&=", 3) or exit 2; exit(flock($f, 6) ? 0 : $!{EWOULDBLOCK} ? 1 : 2)'],
];
const HELD = 1;

export interface SocketLock {
  /** Whether the file we hold is still the one that others would lock. */
  isCurrent(): boolean;
  release(): void;
}

/** The lock file is never removed: otherwise two processes could hold two files of one name. */
export function tryLock(path: string): SocketLock | undefined {
  for (;;) {
    const fd = openLockFile(path);
    try {
      if (!lock(fd)) {
        closeSync(fd);
        return undefined;
      }
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    // the file may have been replaced between open and lock
    if (isSameFile(fstatSync(fd), look(path))) return hold(fd, path);
    closeSync(fd);
  }
}

function hold(fd: number, path: string): SocketLock {
  ftruncateSync(fd);
  writeSync(fd, `${process.pid}\n`, 0);
  let isHeld = true;
  return {
    isCurrent: () => isHeld && isSameFile(fstatSync(fd), look(path)),
    release() {
      // the descriptor may belong to another file by now
      if (!isHeld) return;
      isHeld = false;
      ftruncateSync(fd);
      closeSync(fd);
    },
  };
}

function openLockFile(path: string): number {
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const fix = 'nothing was changed; remove it, if it is not yours to keep';
  let fd: number;
  try {
    fd = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  } catch (cause) {
    throw new SocketPathError(`cannot open the lock file ${path}`, {
      why: (cause as Error).message,
      fix,
      cause,
    });
  }
  const stats = fstatSync(fd);
  if (stats.isFile() && isOurs(stats)) return fd;
  closeSync(fd);
  throw new SocketPathError(`the lock file ${path} is not a plain file of ours`, { fix });
}

function lock(fd: number): boolean {
  const failures: string[] = [];
  for (const [program, ...args] of LOCKERS) {
    const env = { PATH: process.env.PATH };
    const { status, error } = spawnSync(program, args, { stdio: ['ignore', 'ignore', 'ignore', fd], env });
    if (status === 0) return true;
    if (status === HELD) return false;
    failures.push(
      `${program}: ${isCode(error, 'ENOENT') ? 'not found' : (error?.message ?? `status ${status}`)}`,
    );
  }
  throw new ToolherdError('cannot lock the socket: one daemon per socket cannot be promised', {
    why: failures.join('; '),
    fix: 'install flock (util-linux) or perl, and see that the socket is on a local file system',
  });
}

/** The owner writes its pid just after it has the lock, so an empty file or a dead pid is read again. */
export async function readOwner(path: string): Promise<number | null> {
  for (let tries = 0; tries < 50; tries += 1) {
    const pid = readPid(path);
    if (pid > 0 && isAlive(pid)) return pid;
    await sleep(systemClock, 20);
  }
  return null;
}

/**
 * The process that holds a lock; undefined where none does. A holder that was killed leaves its pid in the file, so a
 * pid is believed only if its lock is held. A file without a pid is not tried: that costs a process.
 */
export function holderOf(path: string): number | undefined {
  const pid = readPid(path);
  if (!(pid > 0)) return undefined;
  const free = tryLock(path);
  free?.release();
  return free === undefined ? pid : undefined;
}

function readPid(path: string): number {
  try {
    return Number.parseInt(readFileSync(path, 'utf8'), 10);
  } catch {
    return Number.NaN;
  }
}

function isSameFile(a: Stats, b: Stats | undefined): boolean {
  return b !== undefined && a.ino === b.ino && a.dev === b.dev;
}
