import { type FileHandle, open } from 'node:fs/promises';

const LEVELS = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
} as const;

type Level = (typeof LEVELS)[keyof typeof LEVELS];

/** One line of a log as it was written. */
export interface LogLine {
  /** ISO 8601. */
  time: string;
  level: Level;
  source: string | null;
  text: string;
  /** Which server the line belongs to, where several of one name share a file. */
  of: string | undefined;
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

export function isAtLeast(level: Level, least: Level): boolean {
  const order: Level[] = Object.values(LEVELS);
  return order.indexOf(level) >= order.indexOf(least);
}

async function readTail(path: string, most: number): Promise<Buffer> {
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
        const name = LEVELS[level as keyof typeof LEVELS] ?? 'info';
        return [{ time: String(time), level: name, source: logger, text: String(msg), of }];
      } catch {
        // the first line is usually cut
        return [];
      }
    });
}
