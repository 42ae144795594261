import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { codeOf, isCode, ToolherdError } from '../../shared/errors.js';
import { LIMITS, TOO_LARGE } from './input-limits.js';

/** Says why a file cannot be read, and never quotes its content. */
export class FileReadError extends ToolherdError {
  override readonly fix: string;
  /** The file does not exist. Some callers take that for an empty file. */
  readonly isMissing: boolean;

  constructor(message: string, fix: string, isMissing = false) {
    super(message);
    this.fix = fix;
    this.isMissing = isMissing;
  }
}

const MIB = 1024 * 1024;

/** Reads a regular UTF-8 file. A pipe or a device is refused: reading one could block for ever. */
export function readSmallFile(path: string, maxBytes: number = LIMITS.bytes): string {
  let descriptor: number;
  try {
    descriptor = openToRead(path);
  } catch (error) {
    throw fileReadError(path, error);
  }
  try {
    const { size } = checkRegular(path, descriptor);
    if (size > maxBytes) {
      throw new FileReadError(`${path} is larger than ${maxBytes / MIB} MiB`, TOO_LARGE.fix);
    }
    const bytes = readFileSync(descriptor);
    const text = bytes.toString('utf8');
    if (text.includes('\uFFFD') && !Buffer.from(text).equals(bytes)) {
      throw new FileReadError(`${path} is not valid UTF-8`, 'save it as UTF-8');
    }
    return text;
  } catch (error) {
    throw error instanceof FileReadError ? error : fileReadError(path, error);
  } finally {
    closeSync(descriptor);
  }
}

/** As `readSmallFile`, but undefined for a file that does not exist. */
export function readIfExists(path: string, maxBytes?: number): string | undefined {
  try {
    return readSmallFile(path, maxBytes);
  } catch (error) {
    if (error instanceof FileReadError && error.isMissing) return undefined;
    throw error;
  }
}

/** The file is gone or closed to us. EMFILE, EIO and the like say nothing about the file. */
const LOST = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP'];

/** Why a file that was read before cannot be opened now; undefined while a regular file is there. */
export function whyGone(path: string): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openToRead(path);
    checkRegular(path, descriptor);
    return undefined;
  } catch (error) {
    if (error instanceof FileReadError) return error.message;
    if (!isCode(error, ...LOST)) return undefined;
    const { isMissing, message } = fileReadError(path, error);
    return isMissing ? `${path} was deleted` : message;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function openToRead(path: string): number {
  return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
}

function checkRegular(path: string, descriptor: number): { size: number } {
  const stat = fstatSync(descriptor);
  if (stat.isFile()) return stat;
  const what = stat.isDirectory() ? 'a folder' : 'not a regular file';
  throw new FileReadError(`${path} is ${what}`, 'name a regular file');
}

/** Turns the error of the file system into words. */
export function fileReadError(path: string, error: unknown): FileReadError {
  const code = codeOf(error) ?? 'unknown error';
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new FileReadError(`${path} does not exist`, 'create it, or correct the path', true);
  if (code === 'EACCES' || code === 'EPERM')
    return new FileReadError(`${path} may not be read (${code})`, 'check its permissions');
  return new FileReadError(`${path} could not be read (${code})`, 'check the path');
}

/** Resolves a path written in a file. It must not leave the folder of that file, not even through a link. */
export function resolveInside(folder: string, path: string): string {
  const fix = `use a path inside ${folder}`;
  const full = resolve(folder, path);
  // an absolute path may name the folder by its real path, or by a link to it
  const isInside = !leaves(folder, full) || (isAbsolute(path) && !leaves(realpathSync(folder), full));
  if (!isInside) throw new FileReadError('The path leaves the folder of the file', fix);
  let real: string;
  try {
    real = realpathSync(full);
  } catch (error) {
    throw fileReadError(full, error);
  }
  if (leaves(realpathSync(folder), real))
    throw new FileReadError('The path leaves the folder of the file by a link', fix);
  return real;
}

function leaves(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way);
}
