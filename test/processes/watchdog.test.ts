import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { killOrphans } from '../../src/processes/kill-orphans.js';
import { markedProcesses } from '../../src/processes/marked-processes.js';
import { procStat } from '../../src/processes/process-identity.js';
import type { ProcessTable } from '../../src/processes/table.js';
import { Watchdog } from '../../src/processes/watchdog.js';
import { systemClock } from '../../src/shared/clock.js';
import { bundle } from '../link/bundle.js';
import { alive } from '../link/support.js';
import { newTable, stubbornGroup } from './stand-in.js';

const fixtures = fileURLToPath(new URL('../fixtures', import.meta.url));
let folder: string;
let file: string;

beforeAll(async () => {
  ({ file, folder } = await bundle(new URL('./daemon-stand-in.ts', import.meta.url)));
});

interface Daemon {
  process: ChildProcess;
  daemonId: string;
  watchdog: number;
  pids: number[];
  ledger: string;
}

const daemons: Daemon[] = [];

async function startDaemon(...servers: string[]): Promise<Daemon> {
  const home = join(folder, `home-${daemons.length}-${servers.length}`);
  const child = spawn(process.execPath, [file, home, fixtures, ...servers], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface(child.stdout), 'line');
  const daemon = { process: child, ledger: join(home, 'ledger'), ...JSON.parse(String(line)) };
  daemons.push(daemon);
  return daemon;
}

async function killDaemon(daemon: Daemon): Promise<void> {
  const exited = once(daemon.process, 'exit');
  daemon.process.kill('SIGKILL');
  await exited;
}

async function survivors({ daemonId }: Daemon): Promise<number[]> {
  return (await markedProcesses(`${daemonId}:`)).map(({ pid }) => pid);
}

afterEach(async () => {
  for (const daemon of daemons.splice(0)) {
    daemon.process.kill('SIGKILL');
    for (const { pid } of await markedProcesses(`${daemon.daemonId}:`)) process.kill(pid, 'SIGKILL');
  }
});

/** Whether it is so far that it has set its traps. */
function ignoresTerm(pid: number): boolean {
  if (process.platform !== 'linux') return true;
  const [, ignored = '0'] = /^SigIgn:\s+(\w+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return ((BigInt(`0x${ignored}`) >> BigInt(constants.signals.SIGTERM - 1)) & 1n) === 1n;
}

describe('the watchdog', () => {
  it('ends every group, helper and escapee when the daemon is killed with SIGKILL (P1)', async () => {
    const servers = ['good.mjs', 'stubborn.mjs', 'stubborn.mjs', 'leaves-stubborn-helper.mjs', 'escapes.mjs'];
    const daemon = await startDaemon(...servers);
    expect((await survivors(daemon)).length).toBeGreaterThanOrEqual(7);
    await killDaemon(daemon);
    const killedAt = performance.now();
    await vi.waitFor(async () => expect(await survivors(daemon)).toEqual([]), {
      timeout: 6000,
      interval: 50,
    });
    expect(daemon.pids.filter(alive)).toEqual([]);
    // groups that exit on TERM are gone at once: the two seconds are for those that ignore it
    expect(performance.now() - killedAt).toBeGreaterThan(1000);
    await vi.waitFor(() => expect(alive(daemon.watchdog)).toBe(false), { timeout: 2000 });
  });

  it('killed together with the daemon leaves work for the next start, which does it (P3)', async () => {
    const daemon = await startDaemon('stubborn.mjs', 'escapes.mjs');
    process.kill(daemon.watchdog, 'SIGSTOP');
    await killDaemon(daemon);
    process.kill(daemon.watchdog, 'SIGKILL');
    expect((await survivors(daemon)).length).toBeGreaterThanOrEqual(2);
    const { names } = await killOrphans(daemon.ledger, systemClock);
    expect(names).toEqual(expect.arrayContaining(['stubborn', 'escapes']));
    expect(await survivors(daemon)).toEqual([]);
  });

  describe('of a daemon that lives', () => {
    let table: ProcessTable;
    let watchdog: Watchdog;
    const logged: string[] = [];
    const start = () => {
      logged.length = 0;
      table = newTable();
      watchdog = new Watchdog({
        table,
        clock: systemClock,
        log: (text) => void logged.push(text),
        graceMs: 200,
      });
    };

    afterEach(async () => {
      await table.killAll();
      await watchdog.stop();
    });

    it('is back within a second when it is killed, and knows every group (P2)', async () => {
      start();
      // with a cookie that is not ours, so that only its group can betray it
      const before = [await stubbornGroup(table, undefined, 'another:cookie'), await stubbornGroup(table)];
      const old = watchdog.pid ?? 0;
      process.kill(old, 'SIGKILL');
      await vi.waitFor(() => expect(watchdog.pid ?? old).not.toBe(old), { timeout: 1000, interval: 10 });
      expect(logged[0]).toContain('SIGKILL');
      const after = await stubbornGroup(table);
      // letting it go has the same effect as the death of the daemon
      await watchdog.stop();
      for (const { exited } of [...before, after]) expect(await exited).toEqual([null, 'SIGKILL']);
    });

    it('runs in its own session, and ignores signals to the group of the daemon', async () => {
      start();
      const pid = watchdog.pid ?? 0;
      if (process.platform === 'linux') expect(procStat(pid)?.group).toBe(pid);
      const first = await stubbornGroup(table);
      await vi.waitFor(() => expect(ignoresTerm(pid)).toBe(true));
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const) process.kill(pid, signal);
      await stubbornGroup(table);
      expect([watchdog.pid, logged]).toEqual([pid, []]);
      await watchdog.stop();
      expect(await first.exited).toEqual([null, 'SIGKILL']);
    });

    it('kills neither groups that have gone nor groups of others', async () => {
      start();
      // with a cookie that is not ours, so that only its group could betray it
      const gone = await stubbornGroup(table, undefined, 'another:cookie');
      const stays = await stubbornGroup(table);
      const foreign = await stubbornGroup(newTable());
      // its pid is free again and may belong to another process
      table.remove(gone.pid);
      await watchdog.stop();
      expect(await stays.exited).toEqual([null, 'SIGKILL']);
      expect([alive(gone.pid), alive(foreign.pid)]).toEqual([true, true]);
      for (const { pid, exited } of [gone, foreign]) {
        process.kill(-pid, 'SIGKILL');
        await exited;
      }
    });

    it('ends at once when nothing is left', async () => {
      start();
      const startedAt = performance.now();
      await watchdog.stop();
      // a remaining group would have two seconds
      expect(performance.now() - startedAt).toBeLessThan(1900);
    });
  });
});
