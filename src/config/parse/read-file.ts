import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { LIMITS, TOO_LARGE } from './input-limits.js';

/** Why a file could not be had, in words; never its content. */
export class FileFault extends Error {
  readonly fix: string;
  /** The file does not exist, which some callers may live with. */
  readonly isMissing: boolean;
  constructor(message: string, fix: string, isMissing = false) {
    super(message);
    this.fix = fix;
    this.isMissing = isMissing;
  }
}

/** Reads a small regular file as text. A pipe or a device is refused instead of waited for. */
export function readSmallFile(path: string): string {
  let descriptor: number;
  try {
    descriptor = openToRead(path);
  } catch (error) {
    throw fileFault(path, error);
  }
  try {
    const { size } = checkRegular(path, descriptor);
    if (size > LIMITS.bytes) throw new FileFault(TOO_LARGE.message, TOO_LARGE.fix);
    const bytes = readFileSync(descriptor);
    const text = bytes.toString('utf8');
    if (text.includes('\uFFFD') && !Buffer.from(text).equals(bytes)) {
      throw new FileFault('The file is not valid UTF-8', 'save it as UTF-8');
    }
    return text;
  } catch (error) {
    throw error instanceof FileFault ? error : fileFault(path, error);
  } finally {
    closeSync(descriptor);
  }
}

/** Not EMFILE, EIO and the like: those say nothing about the file. */
const LOST = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP'];

/** What happened to a file that was read before; undefined while a regular file can be opened there. */
export function lossOf(path: string): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openToRead(path);
    checkRegular(path, descriptor);
    return undefined;
  } catch (error) {
    if (error instanceof FileFault) return error.message;
    if (!LOST.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    const { isMissing, message } = fileFault(path, error);
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
  throw new FileFault(`${path} is ${what}`, 'name a regular file');
}

/** Why the system would not give the file. */
export function fileFault(path: string, error: unknown): FileFault {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new FileFault(`${path} does not exist`, 'create it, or correct the path', true);
  if (code === 'EACCES' || code === 'EPERM')
    return new FileFault(`${path} may not be read (${code})`, 'check its permissions');
  return new FileFault(`${path} could not be read (${code})`, 'check the path');
}

/** Resolves a path from a file that may not leave the file's folder, links followed. */
export function resolveInside(folder: string, path: string): string {
  const fix = `use a path inside ${folder}`;
  const full = resolve(folder, path);
  if (isAbsolute(path) || leaves(folder, full))
    throw new FileFault('The path leaves the folder of the file', fix);
  let real: string;
  try {
    real = realpathSync(full);
  } catch (error) {
    throw fileFault(full, error);
  }
  if (leaves(realpathSync(folder), real))
    throw new FileFault('The path leaves the folder of the file by a link', fix);
  return real;
}

function leaves(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way);
}
