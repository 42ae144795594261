import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Enough for a few hundred lines. */
const TAIL_BYTES = 256 * 1024;

/** The last lines of a file, as many as a look into the past needs; none when it is not there. */
export function readSmallTail(path: string): string[] {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return [];
  }
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    const count = readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8', 0, count).split('\n');
  } finally {
    closeSync(file);
  }
}
