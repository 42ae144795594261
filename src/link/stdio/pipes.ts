import type { Readable } from 'node:stream';

/** What the event loop reads at once. It goes on with the same pipe while that is full, up to 2 MB in one turn. */
const FULL_READ = 65_536;

/**
 * Reads a pipe, at most one full chunk in a turn of the event loop: other work of the daemon has its turn before the next.
 * When the process exits, Node resumes its pipes once: that turn may bring one chunk more. Returns a function that
 * counts the bytes that were read.
 */
export function readInTurns(stream: Readable, take: (chunk: Buffer) => void): () => number {
  let bytes = 0;
  const resume = () => void stream.resume();
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (chunk.length >= FULL_READ) {
      stream.pause();
      setImmediate(resume);
    }
    take(chunk);
  });
  return () => bytes;
}

/** More than a dead process can have left in its pipes; a helper that still writes must not delay the ending. */
export const MOST_TURNS = 64;

/**
 * What a dead process wrote lies in the kernel's buffers, and the event loop reads it as fast as it turns. Two turns
 * that bring nothing mean that everything was read; no timeout has to be guessed. `read` counts the bytes so far.
 */
export function afterLastBytes(read: () => number, done: () => void): void {
  let before = read();
  let quiet = 0;
  let turns = 0;
  const turn = () => {
    const now = read();
    quiet = now === before ? quiet + 1 : 0;
    before = now;
    turns += 1;
    if (quiet >= 2 || turns >= MOST_TURNS) done();
    else setImmediate(turn);
  };
  setImmediate(turn);
}
