import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { holdLock, ownIdentity } from '../../src/packages/holder.js';
import { startTimeOf } from '../../src/processes/process-identity.js';
import { systemClock } from '../../src/shared/clock.js';
import { makeFolder } from '../support/folder.js';
import { until } from '../support/until.js';

/** A process that holds a lock and shows that it works, until it is stopped. */
async function holder(file: string): Promise<number> {
  const child = spawn('/bin/sh', ['-c', 'while sleep 0.05; do touch "$0"; done', file], {
    detached: true,
    stdio: 'ignore',
  });
  const pid = child.pid!;
  onTestFinished(() => void process.kill(-pid, 'SIGKILL'));
  writeFileSync(file, `${pid} ${startTimeOf(pid) ?? '-'}\n`);
  const { mtimeMs } = statSync(file);
  await until(() => statSync(file).mtimeMs !== mtimeMs);
  return pid;
}

function holding(file: string, limits: { mostMs: number; silentMs: number }) {
  const said: string[] = [];
  const held = holdLock(file, {
    clock: systemClock,
    signal: new AbortController().signal,
    ...limits,
    onWait: (pid) => said.push(`waits for ${pid}`),
    onTakeOver: (pid) => said.push(`took over from ${pid}`),
  });
  return { said, held };
}

describe('the lock of an installation', () => {
  it('a holder that works is waited for, and named', async () => {
    const file = join(makeFolder(), 'lock');
    const pid = await holder(file);
    const { said, held } = holding(file, { mostMs: 60_000, silentMs: 1500 });
    const { mtimeMs } = statSync(file);
    // longer than a silent holder is waited for
    await until(() => statSync(file).mtimeMs > mtimeMs + 2000);
    expect(said).toEqual([`waits for ${pid}`]);
    process.kill(-pid, 'SIGSTOP');
    const release = await held;
    expect(said).toEqual([`waits for ${pid}`, `took over from ${pid}`]);
    expect(readFileSync(file, 'utf8')).toBe(ownIdentity());
    release();
    expect(existsSync(file)).toBe(false);
  });

  it('no holder is waited for longer than an installation may take', async () => {
    const file = join(makeFolder(), 'lock');
    const pid = await holder(file);
    const { said, held } = holding(file, { mostMs: 300, silentMs: 60_000 });
    (await held)();
    expect(said).toEqual([`waits for ${pid}`, `took over from ${pid}`]);
  });

  it('a holder shows that it works, and does not release what another process took from it', async () => {
    const file = join(makeFolder(), 'lock');
    const release = await holding(file, { mostMs: 1, silentMs: 1 }).held;
    const { mtimeMs } = statSync(file);
    await until(() => statSync(file).mtimeMs !== mtimeMs);
    writeFileSync(file, '1 2\n');
    release();
    expect(readFileSync(file, 'utf8')).toBe('1 2\n');
  });
});
