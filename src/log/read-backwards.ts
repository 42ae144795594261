import { type FileHandle, open } from 'node:fs/promises';
import { rotatedPaths } from './rotating-file.js';

/** A line, and where it begins: lines before it can be asked for by that, also after the file was rotated. */
export interface PlacedLine {
  text: string;
  place: string;
}

const CHUNK = 128 * 1024;
const NEWLINE = 0x0a;

/**
 * The lines of a rotating file and of those before it, the newest first, in chunks: other work of the process comes between.
 * `before`: the place of a line. Where its file is gone, nothing older is there either.
 */
export async function* linesBackwards(path: string, before?: string): AsyncGenerator<PlacedLine[]> {
  const files = await openAll(rotatedPaths(path));
  try {
    const [wanted, offset] = before?.split('-').map(Number) ?? [];
    const first = wanted === undefined ? 0 : files.findIndex(({ inode }) => inode === wanted);
    if (first === -1) return;
    for (const [index, { file, inode, size }] of files.slice(first).entries())
      yield* chunksOf(file, inode, index === 0 ? Math.min(offset ?? size, size) : size);
  } finally {
    await Promise.all(files.map(({ file }) => file.close()));
  }
}

interface OpenFile {
  file: FileHandle;
  inode: number;
  size: number;
}

/** All at once: a file that is moved meanwhile is still read once. */
async function openAll(paths: readonly string[]): Promise<OpenFile[]> {
  const opened = await Promise.all(
    paths.map(async (path) => {
      try {
        const file = await open(path, 'r');
        const { ino, size } = await file.stat();
        return [{ file, inode: ino, size }];
      } catch {
        // it is not there yet
        return [];
      }
    }),
  );
  const known = new Set<number>();
  const twice = opened.flat().filter(({ inode }) => known.size === known.add(inode).size);
  await Promise.all(twice.map(({ file }) => file.close()));
  return opened.flat().filter((one) => !twice.includes(one));
}

async function* chunksOf(file: FileHandle, inode: number, size: number): AsyncGenerator<PlacedLine[]> {
  /** The end of a line whose beginning was not read yet. */
  let rest: Buffer = Buffer.alloc(0);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - CHUNK);
    const chunk = Buffer.alloc(end - start);
    const { bytesRead } = await file.read(chunk, 0, chunk.length, start);
    // the file was cut by another program
    if (bytesRead < chunk.length) return;
    const bytes = Buffer.concat([chunk, rest]);
    const whole = start === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
    const isPart = start > 0 && whole === 0;
    rest = isPart ? bytes : bytes.subarray(0, whole);
    if (!isPart) yield linesIn(bytes, whole, (offset) => `${inode}-${start + offset}`);
    end = start;
  }
}

/** The lines from an offset on, the last first. */
function linesIn(bytes: Buffer, from: number, placeOf: (offset: number) => string): PlacedLine[] {
  const lines: PlacedLine[] = [];
  for (let start = from; start < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline;
    if (end > start) lines.push({ text: bytes.toString('utf8', start, end), place: placeOf(start) });
    start = end + 1;
  }
  return lines.reverse();
}
