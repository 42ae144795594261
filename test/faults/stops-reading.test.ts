import { expect, it } from 'vitest';
import { startHerd, until } from '../support/herd.js';
import { NOISE_MS } from '../support/noise.js';
import { peakOf } from '../support/processes.js';
import { config, server } from './config.js';
import { measured, mebibytes } from './measured.js';

const MIB = 2 ** 20;
/** Together more than the 64 MiB that may wait. */
const CALLS = 720;
const FILLER = 'x'.repeat(100_000);

it('U5: calls to a server that stops reading wait up to the cap, then fail at once; waiting ones are served later', async () => {
  const { fleet, say, status, daemon, connect } = await startHerd(
    config([server('it', 'pauses.mjs', { ping: { interval: 600 } }), server('good', 'good.mjs')]),
  );
  await say('good', 'echo', { value: 'warm' });
  const pid = Number(await say('it', 'pid'));
  const before = peakOf(daemon.pid);
  expect(await say('it', 'pause')).toBe('paused');
  const take = { server: 'it', tool: 'take', arguments: { filler: FILLER } };
  const refused: unknown[] = [];
  const served: unknown[] = [];
  const calls = Array.from({ length: CALLS }, async () => {
    const { error, content } = await fleet.call(take);
    if (error === null) served.push(content);
    else refused.push(error);
  });

  // the last of them came over the same connection before this
  await fleet.status();
  await until(() => refused.length > 20, 40_000);
  expect(refused[0]).toMatchObject({
    type: 'OverloadedError',
    sent: false,
    retryable: true,
    why: 'it reads no input',
    fix: expect.any(String),
  });
  expect(served).toEqual([]);
  const askedAt = performance.now();
  expect(await say('good', 'echo', { value: 'still here' })).toBe('still here');
  expect(performance.now() - askedAt).toBeLessThan(500 + NOISE_MS);
  // a caller without waiting calls is accepted, although another caller has many
  const newcomer = (await connect()).call({ ...take, arguments: { filler: 'abc' } });
  const grown = peakOf(daemon.pid) - before;
  expect(grown).toBeLessThan(600 * MIB);

  process.kill(pid, 'SIGUSR2');
  await Promise.all(calls);
  expect(await newcomer).toMatchObject({ success: true, content: [{ text: '3' }] });
  measured(
    `U5: ${served.length} waited, ${refused.length} were refused; the daemon grew by ${mebibytes(grown)}`,
  );
  expect(served.length + refused.length).toBe(CALLS);
  expect(served.length).toBeGreaterThan(600);
  expect(await status('it')).toMatchObject({ state: 'connected', incarnation: 1, in_flight: 0 });
  expect(await say('it', 'take', { filler: 'again' })).toBe('5');
}, 90_000);
