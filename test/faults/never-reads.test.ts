import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RawClient } from '../ipc/support.js';
import { type Herd, startHerd, until } from '../support/herd.js';
import { NOISE_MS } from '../support/noise.js';
import { peakOf } from '../support/processes.js';
import { config, server } from './config.js';
import { measured, mebibytes } from './measured.js';

const MIB = 2 ** 20;
const STALL_MS = 5000;

/** Asks for so many results of one MiB and takes nothing. `dropped`: when the daemon had closed the connection. */
async function neverReads({ home }: Herd, results: number) {
  const client = await RawClient.open(home.socket);
  client.socket.pause();
  const give = { server: 'huge', tool: 'give', arguments: { bytes: MIB } };
  for (let id = 0; id < results; id += 1) client.ask(id, 'fleet/call', give);
  const beganAt = performance.now();
  let lostAt: number | undefined;
  client.socket.on('error', () => {
    lostAt ??= performance.now();
  });
  return {
    /** An empty line has no meaning; a dropped client cannot send it. */
    dropped: () =>
      until(() => {
        if (lostAt === undefined) client.socket.write('\n');
        return lostAt === undefined ? undefined : lostAt - beganAt;
      }, 30_000),
    isThere: () => lostAt === undefined,
  };
}

/** Calls another server all the time. */
function bystander({ connect }: Herd) {
  const latencies: number[] = [];
  let isWatching = true;
  const done = (async () => {
    const fleet = await connect();
    while (isWatching) {
      const askedAt = performance.now();
      const { success } = await fleet.call({ server: 'good', tool: 'echo', arguments: { value: 'x' } });
      expect(success).toBe(true);
      latencies.push(performance.now() - askedAt);
    }
  })();
  const stop = async () => {
    isWatching = false;
    await done;
    return latencies.sort((a, b) => a - b);
  };
  return { stop };
}

it('S7: a client that never reads is dropped at the caps; others are served, and memory is bounded', async () => {
  const herd = await startHerd(config([server('huge', 'huge.mjs'), server('good', 'good.mjs')]));
  await herd.fleet.start({ all: true }, true);
  const before = peakOf(herd.daemon.pid);
  const watching = bystander(herd);
  // less than the soft cap may wait for ever
  const patient = await neverReads(herd, 10);
  const [stalled, greedy] = [await neverReads(herd, 24), await neverReads(herd, 200)];
  await greedy.dropped();
  expect(await stalled.dropped()).toBeGreaterThan(STALL_MS - 500);
  expect(patient.isThere()).toBe(true);
  const log = join(herd.home.folder, 'state', 'logs', 'daemon.log');
  const told = () => readFileSync(log, 'utf8').match(/a client was dropped: [^"]+/g) ?? [];
  await until(() => told().length >= 2);
  const latencies = await watching.stop();
  const [median = 0, worst = 0] = [latencies[latencies.length >> 1], latencies.at(-1)];
  const grown = peakOf(herd.daemon.pid) - before;
  measured(
    `S7: the daemon grew by ${mebibytes(grown)}; ${latencies.length} calls of other clients took ${median.toFixed(1)} ms (median), ${worst.toFixed(1)} ms (worst)`,
  );
  expect(told()).toHaveLength(2);
  expect(latencies.length).toBeGreaterThan(10);
  expect(median).toBeLessThan(20 + NOISE_MS / 20);
  expect(worst).toBeLessThan(1500 + NOISE_MS);
  expect(grown).toBeLessThan(800 * MIB);
  await until(async () => (await herd.status('huge')).in_flight === 0);
  expect(await herd.say('huge', 'give', { bytes: 3 })).toBe('xxx');
}, 90_000);
