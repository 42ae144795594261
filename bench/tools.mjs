// What every measurement needs: a home of its own, rounds, medians.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

export function makeHome() {
  const home = mkdtempSync(join(tmpdir(), 'toolherd-bench-'));
  // NODE_EXTRA_CA_CERTS adds 60 ms to every start of Node 20; it is no part of what is measured.
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
  const env = { ...inherited, TOOLHERD_HOME: join(home, 'home') };
  mkdirSync(env.TOOLHERD_HOME);
  return { home, env, remove: () => rmSync(home, { recursive: true, force: true }) };
}

/** Runs every system once a round, so that a busy moment of the machine hits all of them. */
export async function interleave(rounds, systems, before = {}) {
  const times = Object.fromEntries(Object.keys(systems).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(systems)) {
      await before[name]?.();
      const start = process.hrtime.bigint();
      await run();
      times[name].push(Number(process.hrtime.bigint() - start) / 1e6);
    }
  }
  return times;
}

export function median(list) {
  return [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
}
