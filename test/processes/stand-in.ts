import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { COOKIE_NAME, procStat } from '../../src/processes/process-identity.js';
import { ProcessTable } from '../../src/processes/table.js';
import { systemClock } from '../../src/shared/clock.js';
import { until } from '../support/until.js';

let count = 0;

export const newTable = (): ProcessTable =>
  new ProcessTable({ daemonId: `table-${process.pid}-${count++}`, clock: systemClock });

/** A shell that leads its own group, ignores TERM, and is in the table. */
export async function stubbornGroup(
  table: ProcessTable,
  script = 'while :; do sleep 1000; done',
  cookie = table.newCookie(),
) {
  const child = spawn('/bin/sh', ['-c', `trap '' TERM HUP; echo ready; ${script}`], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env.PATH, [COOKIE_NAME]: cookie },
  });
  await once(child.stdout, 'data');
  if (child.pid === undefined) throw new Error('no pid');
  const exited = once(child, 'exit');
  const owned = table.add({ pid: child.pid, name: 'stubborn', cookie });
  return { ...owned, exited, cookie };
}

/** A process that has ended and that its parent does not reap. */
export async function zombie(): Promise<number> {
  // sleep, which replaces the shell, does not wait for the child of the shell
  const parent = spawn('/bin/sh', ['-c', 'sleep 0 & echo $!; exec sleep 1000'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [line] = await once(parent.stdout, 'data');
  const pid = Number(String(line));
  await until(() => procStat(pid)?.state === 'Z');
  return pid;
}
