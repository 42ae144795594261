import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder } from '../support/folder.js';
import { type Daemon, type Herd, startHerd, until } from '../support/herd.js';
import { Caller, type Vocabulary } from './caller.js';
import { config, server } from './config.js';
import { measured, mebibytes } from './measured.js';

const CALLS = process.env.TOOLHERD_LONG ? 1_000_000 : 12_000;
/** What a daemon keeps of its first calls (compiled code, the last latencies, buffers) is there after these. */
const WARM_UP = process.env.TOOLHERD_LONG ? 50_000 : 8000;
const CONNECTIONS = 4;
const IN_FLIGHT = 32;
/** Of heap: less than 3 bytes a call in the long form. */
const MAY_GROW = 3 * 2 ** 20;

interface Vitals {
  heap: number;
  external: number;
  timers: number;
  promises: number;
  files: number;
  resources: number;
}

async function vitalsOf(daemon: Daemon, file: string): Promise<Vitals> {
  rmSync(file, { force: true });
  daemon.kill('SIGUSR2');
  await until(() => existsSync(file));
  return JSON.parse(readFileSync(file, 'utf8')) as Vitals;
}

/** So many calls over a few connections, by both vocabularies; every reply is looked at. */
async function callOften({ home }: Herd, calls: number): Promise<void> {
  let left = calls;
  const wrong: string[] = [];
  const callAway = (words: Vocabulary) =>
    new Promise<void>((resolve) => {
      const keys = new Map<number, string>();
      const next = () => {
        left -= 1;
        const key = String(left);
        keys.set(caller.call('it', key, words), key);
      };
      const caller: Caller = new Caller(
        home.socket,
        ({ id, text, error }) => {
          if (text !== keys.get(id)) wrong.push(`${keys.get(id)}: ${text ?? error}`);
          keys.delete(id);
          if (left > 0) next();
          else if (keys.size === 0) void caller.end().then(resolve);
        },
        (line) => wrong.push(line),
      );
      for (let at = 0; at < IN_FLIGHT; at += 1) next();
    });
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, at) => callAway(at % 2 === 0 ? 'mcp' : 'fleet')));
  expect(wrong).toEqual([]);
}

it('L4: the heap, the open files and the timers of the daemon have not grown after many calls', async () => {
  const vitals = join(makeFolder(), 'vitals.json');
  const herd = await startHerd(config([server('it', 'counts.mjs')]), {
    node: ['--no-warnings', '--expose-gc', '--require', join(import.meta.dirname, 'vitals.cjs')],
    environment: { VITALS_FILE: vitals },
  });
  const { daemon, fleet } = herd;
  await fleet.start({ all: true }, true);
  await callOften(herd, WARM_UP);
  const before = await vitalsOf(daemon, vitals);
  const began = performance.now();
  await callOften(herd, CALLS);
  const seconds = (performance.now() - began) / 1000;
  // connections end a moment after their client
  const after = await until(async () => {
    const now = await vitalsOf(daemon, vitals);
    return now.files <= before.files && now.timers <= before.timers && now;
  }).catch(() => vitalsOf(daemon, vitals));
  measured(
    `L4: ${CALLS} calls in ${seconds.toFixed(1)} s; heap ${mebibytes(before.heap)} → ${mebibytes(after.heap)} (${after.heap - before.heap} bytes), open files ${before.files} → ${after.files}, timers ${before.timers} → ${after.timers}, promises ${before.promises} → ${after.promises}`,
  );
  expect(after.files).toBeLessThanOrEqual(before.files);
  expect(after.timers).toBeLessThanOrEqual(before.timers);
  expect(after.resources).toBeLessThanOrEqual(before.resources);
  expect(after.promises).toBeLessThan(before.promises + 100);
  expect(after.heap - before.heap).toBeLessThan(MAY_GROW);
  expect(after.external - before.external).toBeLessThan(2 * MAY_GROW);
  expect(await herd.status('it')).toMatchObject({ in_flight: 0, failures: 0, incarnation: 1 });
}, 900_000);
