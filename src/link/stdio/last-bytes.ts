/** More than a dead process can have left in its pipes; a helper that goes on writing must not hold us up. */
export const MOST_TURNS = 64;

/**
 * What a dead process wrote lies in the kernel's buffers, and the event loop reads it as fast as it turns. Two turns
 * that bring nothing mean that it is all here; no time has to be guessed. `read` counts the bytes so far.
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
