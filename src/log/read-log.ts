import { statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { isAtLeast, LOG_LEVELS, type LogLevel } from '../shared/mcp/log-levels.js';

/** One line of a log as it was written. */
export interface LogLine {
  /** ISO 8601. */
  time: string;
  level: LogLevel;
  source: string | null;
  text: string;
  /** Which server the line belongs to, where several of one name share a file. */
  of: string | undefined;
}

export interface LogFilter {
  /** In milliseconds since 1970. */
  since: number;
  level: LogLevel;
  most: number;
}

/** The newest entries that the filter lets pass, in the order of time. */
export function newestEntries<E extends Pick<LogLine, 'time' | 'level'>>(
  entries: readonly E[],
  { since, level, most }: LogFilter,
): E[] {
  return entries
    .filter((entry) => Date.parse(entry.time) >= since && isAtLeast(entry.level, level))
    .sort((a, b) => (a.time === b.time ? 0 : a.time < b.time ? -1 : 1))
    .slice(-most);
}

/** Enough for a few hundred lines. */
const TAIL_BYTES = 256 * 1024;

/** The last lines of a log; none when the file does not exist. */
export async function readLog(path: string): Promise<LogLine[]> {
  const tail = await readTail(path, TAIL_BYTES);
  // the file may have been rotated a moment ago
  const before = await readTail(`${path}.1`, TAIL_BYTES - tail.length);
  return [...linesOf(before), ...linesOf(tail)];
}

const EMPTY = Buffer.alloc(0);
const NEWLINE = 0x0a;

/** Reads what is added to a log from now on. */
export class LogTail {
  readonly #path: string;
  #last: { size: number; inode: number };
  /** The beginning of a line that is not written to its end yet. */
  #rest: Buffer = EMPTY;

  constructor(path: string) {
    this.#path = path;
    this.#last = look(path);
  }

  /** The lines since the last look. */
  async next(): Promise<LogLine[]> {
    const { size, inode } = this.#last;
    const now = look(this.#path);
    if (now.size === size && now.inode === inode) return [];
    const isRotated = inode !== 0 && now.inode !== inode;
    const old = isRotated ? await readFrom(`${this.#path}.1`, size) : EMPTY;
    const added = await readFrom(this.#path, isRotated ? 0 : size);
    this.#last = { size: (isRotated ? 0 : size) + added.length, inode: now.inode };
    const bytes = Buffer.concat([this.#rest, old, added]);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    this.#rest = bytes.subarray(end);
    return linesOf(bytes.subarray(0, end));
  }
}

function look(path: string): { size: number; inode: number } {
  try {
    const { size, ino } = statSync(path);
    return { size, inode: ino };
  } catch {
    // not there yet, or not readable: then it has no lines
    return { size: 0, inode: 0 };
  }
}

async function readFrom(path: string, offset: number): Promise<Buffer> {
  return readTail(path, Math.max(0, look(path).size - offset));
}

/** The end of a file; empty where it cannot be read. */
export async function readTail(path: string, most: number): Promise<Buffer> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.max(0, Math.min(size, most)));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, size - bytes.length);
    return bytes.subarray(0, bytesRead);
  } catch {
    return Buffer.alloc(0);
  } finally {
    await file?.close();
  }
}

function linesOf(bytes: Buffer): LogLine[] {
  return bytes
    .toString()
    .split('\n')
    .flatMap((line) => {
      try {
        const { time, level, source = null, logger = source, msg = '', of } = JSON.parse(line);
        // a line without a time is not from pino
        if (Number.isNaN(Date.parse(time))) return [];
        // pino writes 10 for `trace`, 20 for `debug`, and so on
        const name = LOG_LEVELS[level / 10 - 1] ?? 'info';
        return [{ time: String(time), level: name, source: logger, text: String(msg), of }];
      } catch {
        // the first line is usually cut
        return [];
      }
    });
}
