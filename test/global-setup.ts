import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findLeftFolders, findLeftovers } from './support/leftovers.js';

const ROOT = join(import.meta.dirname, '..');
/** A watchdog takes two seconds for what ignores TERM. */
const PATIENCE_MS = 10_000;

/** The tests of the command run what users run, the built one: built anew for this run, in a folder of its own. */
export function setup(): () => Promise<void> {
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  const dist = mkdtempSync(join(ROOT, '.cache', 'test-dist-'));
  execFileSync(process.execPath, [join(ROOT, 'scripts', 'build.mjs'), dist], { stdio: 'inherit' });
  process.env.TOOLHERD_TEST_DIST = dist;
  return async () => {
    await expectNoLeftovers(dist);
    rmSync(dist, { recursive: true, force: true });
  };
}

/** The last check of all: no test has left a process behind, nor a folder with whatever is in it. */
async function expectNoLeftovers(dist: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  const find = () => [
    ...findLeftovers(dist).map(({ pid, command }) => `${pid} ${command}`),
    ...findLeftFolders(dist),
  ];
  let left = find();
  while (left.length > 0 && Date.now() < deadline) {
    await sleep(100);
    left = find();
  }
  if (left.length === 0) return;
  process.exitCode = 1;
  throw new Error(`were left behind:\n${left.map((one) => `  ${one}`).join('\n')}`);
}
