import { describe, expect, it } from 'vitest';
import { seen, until } from './until.js';

describe('a wait', () => {
  it('resolves with the first truthy answer', async () => {
    const answers = [undefined, null, false, 0, 1];
    expect(await until(() => answers.shift())).toBe(0);
  });

  it('that times out fails with its condition and the last value seen', async () => {
    let looks = 0;
    const state = async () => seen({ looks: ++looks, state: 'connected' });
    const failed = until(async () => (await state()).state === 'quarantined', 50);
    await expect(failed).rejects.toThrow(
      /^not within 50 ms: .*state === "quarantined"; it is false; seen last: \{ looks: \d+, state: 'connected' \}$/,
    );
    expect(looks).toBeGreaterThan(1);
  });

  it('times out also when its check never answers', async () => {
    const never = new Promise<boolean>(() => undefined);
    await expect(until(() => never, 20, 20)).rejects.toThrow(
      'not within 20 ms: () => never; its last look has no answer',
    );
  });

  it('fails with the error of its check, at once', async () => {
    const broken = until(() => Promise.reject(new Error('gone')));
    await expect(broken).rejects.toThrow('gone');
  });

  it('reports the value that it saw itself, also beside another wait', async () => {
    const failures = ['one', 'two'].map((name) =>
      until(async () => seen(name) === 'three', 30).catch((error: Error) => error.message),
    );
    expect(await Promise.all(failures)).toEqual([
      expect.stringMatching(/seen last: 'one'$/),
      expect.stringMatching(/seen last: 'two'$/),
    ]);
  });
});
