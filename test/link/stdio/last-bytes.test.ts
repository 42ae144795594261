import { describe, expect, it } from 'vitest';
import { afterLastBytes, MOST_TURNS } from '../../../src/link/stdio/last-bytes.js';

describe('the last bytes of a dead process', () => {
  /** How many turns it waits when `readAt` bytes have been read at each of them. */
  const turns = (readAt: (turn: number) => number) =>
    new Promise<number>((resolve) => {
      let turn = -1;
      const read = () => {
        turn += 1;
        return readAt(turn);
      };
      afterLastBytes(read, () => resolve(turn));
    });

  it('are there when two turns have brought nothing', async () => {
    expect(await turns(() => 7)).toBe(2);
  });

  it('are waited for as long as they come', async () => {
    expect(await turns((turn) => Math.min(turn, 10))).toBe(12);
    expect(await turns((turn) => Math.floor(turn / 2) * Number(turn < 8))).toBe(10);
  });

  it('are not waited for without end', async () => {
    expect(await turns((turn) => turn)).toBe(MOST_TURNS);
  });
});
