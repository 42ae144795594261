import { describe, expect, it } from 'vitest';
import { toolherd } from '../support/command.js';
import { isAlive, ORPHANS_MS, processesOf, startHerd, stateOf, until, watchdogOf } from '../support/herd.js';
import { NOISE_MS } from '../support/noise.js';
import { config, server } from './config.js';
import { measured, millis } from './measured.js';

/** Ten servers, most of which do not go by themselves. */
const TEN = [
  ...['good-1', 'good-2', 'good-3'].map((name) => server(name, 'good.mjs')),
  ...['stubborn-1', 'stubborn-2', 'stubborn-3'].map((name) => server(name, 'stubborn.mjs')),
  ...['escapes-1', 'escapes-2'].map((name) => server(name, 'escapes.mjs')),
  server('needs-term', 'needs-term.mjs'),
  server('leaves-stubborn-helper', 'leaves-stubborn-helper.mjs'),
];

async function startAll(entries = TEN) {
  const herd = await startHerd(config(entries));
  const started = await herd.fleet.start({ all: true }, true);
  expect(started.map(({ name, state }) => `${name} ${state}`)).toEqual(
    entries.map(({ name }) => `${name} connected`),
  );
  const pids = processesOf(herd.daemon.id).map(({ pid }) => pid);
  expect(pids.length).toBeGreaterThan(entries.length);
  return { ...herd, pids };
}

describe('when the daemon is killed', () => {
  it('P1: no process of its ten servers survives, also none that ignores EOF and TERM', async () => {
    const { daemon, pids } = await startAll();
    const killedAt = performance.now();
    daemon.kill('SIGKILL');
    await until(() => !pids.some(isAlive), ORPHANS_MS);
    measured(`P1: ${pids.length} processes, none left after ${millis(performance.now() - killedAt)}`);
    expect(processesOf(daemon.id)).toEqual([]);
  });

  it('P2: the restarted watchdog kills every server, older and newer, after its predecessor was killed', async () => {
    const older = server('older', 'stubborn.mjs', { start: 'eager' });
    const newer = server('newer', 'stubborn.mjs');
    const { daemon, fleet } = await startHerd(config([older, newer]));
    await fleet.start({ servers: ['older'] }, true);
    const first = await until(() => watchdogOf(daemon.id));
    const killedAt = performance.now();
    process.kill(first, 'SIGKILL');
    const second = await until(() => {
      const pid = watchdogOf(daemon.id);
      return pid !== first && pid;
    }, 1000 + NOISE_MS);
    measured(`P2: a new watchdog after ${millis(performance.now() - killedAt)}`);
    expect(isAlive(second)).toBe(true);
    await fleet.start({ servers: ['newer'] }, true);
    const { servers } = await fleet.status();
    const pids = servers.flatMap((one) => one.pids);
    expect(pids).toHaveLength(2);
    daemon.kill('SIGKILL');
    await until(() => !pids.some(isAlive), ORPHANS_MS);
  });

  it('P3: the next daemon kills the processes that a daemon and its watchdog left when both were killed', async () => {
    const { home, daemon, pids } = await startAll(
      TEN.filter(({ name }) => /stubborn|escapes-1|needs/.test(name)),
    );
    const watchdog = await until(() => watchdogOf(daemon.id));
    // in one go: a daemon that runs has another watchdog in a moment
    daemon.kill('SIGSTOP');
    await until(() => stateOf(daemon.pid) === 'T');
    process.kill(watchdog, 'SIGKILL');
    daemon.kill('SIGKILL');
    await until(() => !isAlive(daemon.pid) && !isAlive(watchdog));
    const orphans = pids.filter(isAlive);
    expect(orphans.length).toBeGreaterThanOrEqual(4);

    const up = await toolherd(['up', '--json'], { cwd: home.folder, env: home.environment });
    expect(up).toEqual({ status: 0, stderr: '', stdout: expect.stringContaining('"pid"') });
    home.adopt((JSON.parse(up.stdout) as { pid: number }).pid);
    expect(orphans.filter(isAlive)).toEqual([]);
    expect(processesOf(daemon.id)).toEqual([]);
    measured(`P3: ${orphans.length} orphans, none left when the next daemon served`);
  });
});
