import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Home, isAlive, startHerd } from '../support/herd.js';
import { NOISE_MS } from '../support/noise.js';
import { peakOf } from '../support/processes.js';
import { config, server } from './config.js';
import { measured, mebibytes } from './measured.js';

const MIB = 2 ** 20;
/** `npm run faults` writes the whole gigabyte. */
const FLOOD_MIB = process.env.TOOLHERD_LONG ? 1024 : 192;
const LOG_BYTES = MIB;
/** One line more than the cap may be in each of them. */
const LOGS_BYTES = 4 * LOG_BYTES + 64 * 1024;

const placeOf = ({ folder }: Home) => join(folder, 'state', 'logs', 'servers');

/** The one that is written, and those before it. */
function logsOf(home: Home, name: string): { name: string; bytes: number }[] {
  const place = placeOf(home);
  const own = readdirSync(place).filter((file) => file.startsWith(`${name}.log`));
  return own.sort().map((file) => ({ name: file, bytes: statSync(join(place, file)).size }));
}

it('U1: a server that floods stderr is read to the end; logs and memory stay limited, and others are served', async () => {
  const { home, fleet, daemon, say, status } = await startHerd(
    config([server('loud', 'floods-stderr.mjs', { args: [String(FLOOD_MIB)] }), server('good', 'good.mjs')], {
      log_max_bytes: LOG_BYTES,
    }),
  );
  const pid = await say('good', 'pid');
  const before = peakOf(daemon.pid);
  const began = performance.now();
  // it serves when all of it was taken from it
  let isFlooding = true;
  const drained = fleet.call({ server: 'loud', tool: 'echo', arguments: { value: 'alive' } }).finally(() => {
    isFlooding = false;
  });
  const waits: number[] = [];
  while (isFlooding) {
    const askedAt = performance.now();
    expect(await say('good', 'pid')).toBe(pid);
    waits.push(performance.now() - askedAt);
  }
  expect(await drained).toMatchObject({ success: true, content: [{ text: 'alive' }] });
  const tookMs = performance.now() - began;
  const grown = peakOf(daemon.pid) - before;
  const worst = Math.max(...waits);
  const logs = logsOf(home, 'loud');
  measured(
    `U1: ${FLOOD_MIB} MiB in ${Math.round(tookMs)} ms; the daemon grew by ${mebibytes(grown)}, the logs to ${logs.length} files of ${mebibytes(logs.reduce((sum, { bytes }) => sum + bytes, 0))}; ${waits.length} calls of other servers meanwhile, the slowest ${Math.round(worst)} ms`,
  );
  expect(logs.map(({ name }) => name)).toEqual(['loud.log', 'loud.log.1', 'loud.log.2', 'loud.log.3']);
  for (const { bytes } of logs) expect(bytes).toBeLessThanOrEqual(LOGS_BYTES / 4);
  expect(grown).toBeLessThan(150 * MIB);
  expect(worst).toBeLessThan(500 + NOISE_MS);
  // in whichever of them: a daemon that had to wait for its turn has room for more lines than one likes to look at
  const written = logs.map(({ name }) => readFileSync(join(placeOf(home), name), 'utf8')).join('');
  expect(written).toMatch(/\(\d+ bytes dropped: more than the log takes\)/);
  expect(await say('loud', 'echo', { value: 'again' })).toBe('again');
  expect(await status('loud')).toMatchObject({ state: 'connected', incarnation: 1 });
  expect(isAlive(daemon.pid)).toBe(true);
}, 120_000);
