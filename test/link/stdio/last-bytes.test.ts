import { describe, expect, it } from 'vitest';
import { afterLastBytes, MOST_TURNS } from '../../../src/link/stdio/last-bytes.js';

describe('the last bytes of a dead process', () => {
  const settle = (readAt: (turn: number) => number) =>
    new Promise<number>((resolve) => {
      let looks = 0;
      // it looks twice per turn, and once before the first
      afterLastBytes(
        () => readAt(Math.floor(looks++ / 2)),
        () => resolve(Math.floor(looks / 2)),
      );
    });

  it('are there when two turns have brought nothing', async () => {
    expect(await settle(() => 7)).toBe(2);
  });

  it('are waited for as long as they come', async () => {
    expect(await settle((turn) => Math.min(turn, 10))).toBeGreaterThanOrEqual(12);
  });

  it('are not waited for without end', async () => {
    expect(await settle((turn) => turn)).toBe(MOST_TURNS);
  });
});
