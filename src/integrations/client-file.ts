import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { ToolherdError } from '../shared/errors.js';

/** Some clients keep their history beside their servers: such a file has megabytes. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The text of a file that may not exist. */
export function readText(file: string): string | undefined {
  let descriptor: number;
  try {
    // Without waiting for whoever writes to a pipe.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw unusable(file, `it cannot be opened (${code})`);
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw unusable(file, 'it is not a regular file');
    if (stat.size > MAX_BYTES) throw unusable(file, 'it is larger than 64 MiB');
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(descriptor));
  } catch (error) {
    throw error instanceof ToolherdError ? error : unusable(file, 'it is not UTF-8');
  } finally {
    closeSync(descriptor);
  }
}

function unusable(file: string, why: string): ToolherdError {
  return new ToolherdError(`${file} cannot be read`, { why, fix: 'look at the file' });
}
