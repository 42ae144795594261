import type { Readable } from 'node:stream';

/** What the event loop reads at once. It goes on with the same pipe while that is full, up to 2 MB in one turn. */
const FULL_READ = 65_536;

/**
 * Hears what comes, of much of it one chunk in a turn of the event loop: whoever else waits has a turn before the next.
 */
export function readInTurns(stream: Readable, take: (chunk: Buffer) => void): void {
  const goOn = () => void stream.resume();
  stream.on('data', (chunk: Buffer) => {
    if (chunk.length >= FULL_READ) {
      stream.pause();
      setImmediate(goOn);
    }
    take(chunk);
  });
}
