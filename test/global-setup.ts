import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { findLeftFolders, findLeftovers } from './support/leftovers.js';
import { LEFT_OUT } from './support/processes.js';
import { runFolder } from './support/run.js';

/** A watchdog waits two seconds before it kills a process that ignores SIGTERM. */
const PATIENCE_MS = 10_000;

export function setup(): () => Promise<void> {
  const folder = runFolder();
  for (const check of LEFT_OUT) console.warn(`not checked on ${process.platform}: ${check}`);
  return async () => {
    await expectNoLeftovers(folder);
    rmSync(folder, { recursive: true, force: true });
  };
}

/** The last check of a run: no test has left a process behind, or a folder. */
async function expectNoLeftovers(run: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  const find = () => [
    ...findLeftovers(run).map(({ pid, command }) => `${pid} ${command}`),
    ...findLeftFolders(),
  ];
  let left = find();
  while (left.length > 0 && Date.now() < deadline) {
    await sleep(100);
    left = find();
  }
  if (left.length === 0) return;
  process.exitCode = 1;
  throw new Error(`the tests left behind:\n${left.map((one) => `  ${one}`).join('\n')}`);
}
