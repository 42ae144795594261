import { chmodSync, lstatSync, mkdirSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { type ErrorDetails, isCode, ToolherdError } from '../../shared/errors.js';

/**
 * Where the socket is, and whether that place is safe. The socket gives full authority over the herd, so it must lie
 * in a folder that only its user can enter; and nothing at its path is touched that is not a socket of ours.
 */
export class SocketPathError extends ToolherdError {
  override readonly type: string = 'SocketPathError';

  constructor(message: string, details: ErrorDetails & { fix: string }) {
    super(message, details);
  }
}

export interface SocketPlaces {
  /** `--socket`. */
  flag?: string | undefined;
  environment: Readonly<Record<string, string | undefined>>;
  /** Where state is kept; the socket of a machine without XDG_RUNTIME_DIR is under it. */
  stateFolder: string;
}

/** What every system can hold: macOS has room for 103 bytes and a NUL. Longer ones are cut without a word. */
export const MAX_PATH_BYTES = 103;
const ELSEWHERE = 'set TOOLHERD_SOCKET (or --socket) to a path in a folder of your own, mode 0700';

export function findSocketPath({ flag, environment, stateFolder }: SocketPlaces): string {
  const { TOOLHERD_SOCKET, TOOLHERD_HOME, XDG_RUNTIME_DIR } = environment;
  if (flag) return resolve(flag);
  if (TOOLHERD_SOCKET) return resolve(TOOLHERD_SOCKET);
  if (TOOLHERD_HOME) return join(resolve(TOOLHERD_HOME), 'run', 'toolherd.sock');
  // the XDG specification has relative ones ignored
  if (XDG_RUNTIME_DIR && isAbsolute(XDG_RUNTIME_DIR))
    return join(XDG_RUNTIME_DIR, 'toolherd', 'toolherd.sock');
  return join(stateFolder, 'run', 'toolherd.sock');
}

/** Makes the folder if need be, and refuses a place that is not safe. */
export function prepareSocketFolder(path: string): void {
  checkLength(path);
  const folder = dirname(path);
  try {
    makeFolder(folder);
  } catch (cause) {
    if (cause instanceof ToolherdError) throw cause;
    const why = (cause as Error).message;
    throw new SocketPathError(`cannot make the socket's folder ${folder}`, { why, fix: ELSEWHERE, cause });
  }
  checkSocketPath(path);
}

/** Step by step: Node's recursive mkdir never returns where a system has no room for new folders (/proc). */
function makeFolder(folder: string): void {
  if (look(folder) !== undefined) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, 0o700);
  } catch (error) {
    // another daemon was faster
    if (!isCode(error, 'EEXIST')) throw error;
  }
}

/** Refuses a place that is not safe; a path or folder that is missing is not a fault. For clients as for the daemon. */
export function checkSocketPath(path: string): void {
  checkLength(path);
  const folder = dirname(path);
  const place = look(folder);
  if (place === undefined) return;
  if (place.isSymbolicLink()) refuse(`the socket's folder ${folder} is a symbolic link`);
  if (!place.isDirectory()) refuse(`${folder} is not a folder`);
  if (!isOurs(place)) refuse(`the socket's folder ${folder} belongs to another user (uid ${place.uid})`);
  const mode = place.mode & 0o777;
  if (mode !== 0o700) {
    throw new SocketPathError(`the socket's folder ${folder} has mode 0${mode.toString(8)}, not 0700`, {
      why: 'whoever reaches the socket commands the herd',
      fix: `chmod 700 '${folder}', if it is there for toolherd alone; else ${ELSEWHERE}`,
    });
  }
  const there = look(path);
  if (there === undefined) return;
  if (there.isSymbolicLink()) refuse(`${path} is a symbolic link`);
  if (!there.isSocket()) refuse(`${path} is not a socket`);
  if (!isOurs(there)) refuse(`${path} belongs to another user (uid ${there.uid})`);
}

/** Gives a socket of ours and its folder their modes back. Returns what had to be changed. */
export function tightenPlace(path: string): string[] {
  const places = [
    { place: dirname(path), mode: 0o700 },
    { place: path, mode: 0o600 },
  ];
  return places
    .filter(({ place, mode }) => {
      const there = look(place);
      if (there === undefined || there.isSymbolicLink() || !isOurs(there)) return false;
      if ((there.mode & 0o777) === mode) return false;
      chmodSync(place, mode);
      return true;
    })
    .map(({ place }) => place);
}

export function checkLength(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes > MAX_PATH_BYTES) {
    throw new SocketPathError(`the path of the socket is ${bytes} bytes long: ${path}`, {
      why: `a Unix socket's path may have at most ${MAX_PATH_BYTES} bytes`,
      fix: 'set TOOLHERD_SOCKET (or --socket) to a shorter one',
    });
  }
  if (path.includes('\0')) refuse('the path of the socket has a NUL in it');
}

function refuse(message: string): never {
  throw new SocketPathError(message, { fix: `nothing was changed; ${ELSEWHERE}` });
}

/** Like lstat; undefined where there is nothing. */
export function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (cause) {
    if (isCode(cause, 'ENOTDIR')) return undefined;
    throw new SocketPathError(`cannot look at ${path}`, {
      why: (cause as Error).message,
      fix: ELSEWHERE,
      cause,
    });
  }
}

export function isOurs({ uid }: Stats): boolean {
  return uid === process.getuid?.();
}
