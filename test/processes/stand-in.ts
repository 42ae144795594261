import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
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

/** A process that has ended, that leads its own group and that its parent does not reap. */
export async function zombie(): Promise<number> {
  // The child lives until the shell has become sleep, which reaps no child: the shell itself could reap it.
  const script = 'setsid sh -c "read line <&3" & echo $!; exec sleep 1000';
  const parent = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore', 'pipe'] });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [line] = await once(parent.stdout as Readable, 'data');
  const pid = Number(String(line));
  await until(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n');
  (parent.stdio[3] as Writable).end();
  await until(() => procStat(pid)?.state === 'Z');
  return pid;
}
