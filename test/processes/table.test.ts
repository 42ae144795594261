import { execFileSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { groupAlive, groupRuns } from '../../src/processes/group.js';
import { markedProcesses } from '../../src/processes/marked-processes.js';
import { cookieOf, procStat, startTimeOf } from '../../src/processes/process-identity.js';
import { ProcessTable } from '../../src/processes/table.js';
import { systemClock } from '../../src/shared/clock.js';
import { newTable, stubbornGroup, zombie } from './stand-in.js';

const tables: ProcessTable[] = [];
const table = () => {
  const one = newTable();
  tables.push(one);
  return one;
};

afterEach(async () => {
  for (const one of tables.splice(0)) await one.killAll();
});

describe('the process table', () => {
  it('knows every process with its start time, and reports changes', async () => {
    const one = table();
    const told: string[] = [];
    const stop = one.observe({
      added: ({ name }) => told.push(`+${name}`),
      removed: ({ name }) => told.push(`-${name}`),
    });
    const { pid } = await stubbornGroup(one);
    expect(one.list()).toMatchObject([{ pid, name: 'stubborn', startTime: startTimeOf(pid) }]);
    await one.killAll();
    expect(told).toEqual(['+stubborn', '-stubborn']);
    stop();
    await stubbornGroup(one);
    expect(told).toHaveLength(2);
  });

  it('kills every group, helpers and escapees too, and resolves when they are gone (I6, P7)', async () => {
    const one = table();
    const groups = [
      await stubbornGroup(one),
      await stubbornGroup(one, 'sleep 1000 & sleep 1000 & wait; while :; do sleep 1000; done'),
      await stubbornGroup(one, 'setsid sleep 1000 & while :; do sleep 1000; done'),
    ];
    expect((await markedProcesses(`${one.daemonId}:`)).length).toBeGreaterThanOrEqual(3);
    await one.killAll();
    for (const { pid, exited } of groups) {
      expect(groupRuns(pid)).toBe(false);
      await exited;
    }
    expect(await markedProcesses(`${one.daemonId}:`)).toEqual([]);
    expect(one.size).toBe(0);
  });

  it('has sent its signals before anything is awaited, so that an exit handler can use it', async () => {
    const one = table();
    const { exited } = await stubbornGroup(one);
    void one.killAll();
    expect(await exited).toEqual([null, 'SIGKILL']);
  });

  it('refuses an id that a shell could take for something else', () => {
    expect(() => new ProcessTable({ daemonId: '$(x)', clock: systemClock })).toThrow(TypeError);
  });
});

describe.runIf(process.platform === 'linux')('the identity of a process', () => {
  it('is its start time and its cookie', async () => {
    const { pid, cookie } = await stubbornGroup(table());
    expect(cookieOf(pid)).toBe(cookie);
    const ticks = execFileSync('awk', ['{print $22}', `/proc/${pid}/stat`], { encoding: 'utf8' }).trim();
    expect(startTimeOf(pid)).toBe(ticks);
    expect(procStat(pid)?.group).toBe(pid);
  });

  it('is read right for a program with brackets and spaces in its name', async () => {
    const one = table();
    const { pid } = await stubbornGroup(
      one,
      "printf 'x) Z 1 1' > /proc/$$/comm; echo named; while :; do sleep 1000; done",
    );
    expect(procStat(pid)?.group).toBe(pid);
  });

  it('a pid without a process has an empty identity', () => {
    expect([startTimeOf(2 ** 22 + 1), cookieOf(2 ** 22 + 1), cookieOf(1)]).toEqual([null, null, null]);
  });

  it('ignores zombies that are not reaped', async () => {
    const pid = await zombie();
    expect(procStat(pid)).toMatchObject({ state: 'Z', group: pid });
    expect(groupAlive(pid)).toBe(true);
    expect(groupRuns(pid)).toBe(false);
  });
});
