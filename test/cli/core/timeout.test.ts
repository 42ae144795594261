import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { limitByTimeoutOption } from '../../../src/cli/core/timeout.js';

const limited = (timeout: number | undefined) => ({ globals: { timeout } });

describe('--timeout', () => {
  test('work that is done in time gives its result, also where that is undefined', async () => {
    const work = () => Promise.resolve(undefined);
    expect(await limitByTimeoutOption(limited(60_000), work())).toBeUndefined();
  });

  test('work that takes longer is refused with the time in the message', async () => {
    const endless = new Promise(() => undefined);
    await expect(limitByTimeoutOption(limited(20), endless)).rejects.toThrow('not done within 20ms');
  });

  test('a timeout longer than a timer can wait does not end at once', async () => {
    const work = sleep(50, 'done');
    expect(await limitByTimeoutOption(limited(2 ** 31), work)).toBe('done');
  });
});
