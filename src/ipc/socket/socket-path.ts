import { chmodSync, lstatSync, mkdirSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Environment } from '../../shared/environment.js';
import { type ErrorDetails, isCode, ToolherdError } from '../../shared/errors.js';
import { shellWord } from '../../shared/text/shell-word.js';

/**
 * The path of the socket is not safe. The socket gives full authority over the herd, so it must be in a folder that only
 * its user can enter. A file at its path that is not a socket of ours is never touched.
 */
export class SocketPathError extends ToolherdError {
  override readonly type: string = 'SocketPathError';

  constructor(message: string, details: ErrorDetails & { fix: string }) {
    super(message, details);
  }
}

export interface SocketPathOptions {
  /** `--socket`. */
  flag?: string | undefined;
  environment: Environment;
  /** The socket is below it where XDG_RUNTIME_DIR is not set. */
  stateFolder: string;
}

/** The limit of macOS: 103 bytes and a NUL. Longer paths are cut without an error. */
const MAX_PATH_BYTES = 103;
const ELSEWHERE = 'set TOOLHERD_SOCKET (or --socket) to a path in a folder of your own, mode 0700';

export function findSocketPath({ flag, environment, stateFolder }: SocketPathOptions): string {
  const { TOOLHERD_SOCKET, TOOLHERD_HOME, XDG_RUNTIME_DIR } = environment;
  if (flag) return resolve(flag);
  if (TOOLHERD_SOCKET) return resolve(TOOLHERD_SOCKET);
  if (TOOLHERD_HOME) return join(resolve(TOOLHERD_HOME), 'run', 'toolherd.sock');
  // the XDG specification says to ignore relative paths
  if (XDG_RUNTIME_DIR && isAbsolute(XDG_RUNTIME_DIR))
    return join(XDG_RUNTIME_DIR, 'toolherd', 'toolherd.sock');
  return join(stateFolder, 'run', 'toolherd.sock');
}

/** Makes the folder if it is missing, and refuses one that is not safe. */
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

/** Folder by folder: Node's recursive mkdir never returns where folders cannot be made (/proc). */
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

/** Refuses a path that is not safe, for clients and daemon alike. A missing file or folder is not an error. */
export function checkSocketPath(path: string): void {
  checkLength(path);
  const folder = dirname(path);
  const folderStats = look(folder);
  if (folderStats === undefined) return;
  if (folderStats.isSymbolicLink()) refuse(`the socket's folder ${folder} is a symbolic link`);
  if (!folderStats.isDirectory()) refuse(`${folder} is not a folder`);
  if (!isOurs(folderStats))
    refuse(`the socket's folder ${folder} belongs to another user (uid ${folderStats.uid})`);
  const mode = folderStats.mode & 0o777;
  if (mode !== 0o700) {
    throw new SocketPathError(`the socket's folder ${folder} has mode 0${mode.toString(8)}, not 0700`, {
      why: 'every process that can open the socket controls the herd',
      fix: `chmod 700 ${shellWord(folder)}, if it is there for toolherd alone; else ${ELSEWHERE}`,
    });
  }
  const there = look(path);
  if (there === undefined) return;
  if (there.isSymbolicLink()) refuse(`${path} is a symbolic link`);
  if (!there.isSocket()) refuse(`${path} is not a socket`);
  if (!isOurs(there)) refuse(`${path} belongs to another user (uid ${there.uid})`);
}

/** Sets the modes of our socket and its folder back. Returns the paths that were changed. */
export function tightenModes(path: string): string[] {
  const wanted = [
    { file: dirname(path), mode: 0o700 },
    { file: path, mode: 0o600 },
  ];
  return wanted
    .filter(({ file, mode }) => {
      const there = look(file);
      if (there === undefined || there.isSymbolicLink() || !isOurs(there)) return false;
      if ((there.mode & 0o777) === mode) return false;
      chmodSync(file, mode);
      return true;
    })
    .map(({ file }) => file);
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
