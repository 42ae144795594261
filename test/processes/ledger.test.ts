import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { killOrphans } from '../../src/processes/kill-orphans.js';
import { Ledger } from '../../src/processes/ledger.js';
import { startTimeOf } from '../../src/processes/process-identity.js';
import type { ProcessTable } from '../../src/processes/table.js';
import { systemClock } from '../../src/shared/clock.js';
import { alive } from '../link/support.js';
import { newTable, stubbornGroup, zombie } from './stand-in.js';

let folder: string;
let path: string;
let table: ProcessTable;
const logged: string[] = [];
const log = (text: string) => void logged.push(text);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  path = join(folder, 'ledger');
  table = newTable();
  logged.length = 0;
});

afterEach(async () => {
  await table.killAll();
  rmSync(folder, { recursive: true });
});

/** Makes the ledger look as if a daemon had written it that is dead by now. */
function disown(): void {
  const text = readFileSync(path, 'utf8').replace(`"pid":${process.pid}`, '"pid":4194305');
  writeFileSync(path, text);
}

describe('the ledger', () => {
  it('lets the next daemon kill the processes of a killed one (P3)', async () => {
    const ledger = new Ledger(path, table, log);
    const groups = [await stubbornGroup(table), await stubbornGroup(table, 'sleep 1000 & sleep 1000; wait')];
    disown();
    const { pids, names } = await killOrphans(path, systemClock);
    expect(pids).toEqual(expect.arrayContaining(groups.map(({ pid }) => pid)));
    expect(names).toEqual(['stubborn']);
    for (const { exited } of groups) expect(await exited).toEqual([null, 'SIGKILL']);
    ledger.close();
  });

  it.runIf(process.platform === 'linux')(
    'finds processes that are not in it by their cookie (P3, P7)',
    async () => {
      const escaped = await stubbornGroup(table);
      writeFileSync(path, `{"ledger":1,"daemonId":"${table.daemonId}","pid":4194305,"startTime":null}\n`);
      expect(await killOrphans(path, systemClock)).toMatchObject({
        pids: expect.arrayContaining([escaped.pid]),
        names: ['unknown'],
      });
      expect(await escaped.exited).toEqual([null, 'SIGKILL']);
    },
  );

  it('leaves a recycled pid alone: its start time or its cookie is another', async () => {
    const stranger = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
    const pid = stranger.pid ?? 0;
    const cookie = `${table.daemonId}:x`;
    const lines = [
      { ledger: 1, daemonId: table.daemonId, pid: 4194305, startTime: 'x' },
      { came: { pid, name: 'wrong cookie', cookie, startTime: startTimeOf(pid) } },
    ];
    writeFileSync(path, lines.map((line) => JSON.stringify(line)).join('\n'));
    expect((await killOrphans(path, systemClock)).pids).toEqual([]);
    const { cookie: own, ...ours } = await stubbornGroup(newTable());
    const later = [lines[0], { came: { pid: ours.pid, name: 'wrong time', cookie: own, startTime: '1' } }];
    writeFileSync(path, later.map((line) => JSON.stringify(line)).join('\n'));
    expect((await killOrphans(path, systemClock)).pids).toEqual([]);
    expect([alive(pid), alive(ours.pid)]).toEqual([true, true]);
    stranger.kill('SIGKILL');
    process.kill(-ours.pid, 'SIGKILL');
    await Promise.all([once(stranger, 'exit'), ours.exited]);
  });

  it.runIf(process.platform === 'linux')(
    'lets the next daemon kill the processes of one that is a zombie',
    async () => {
      const ledger = new Ledger(path, table, log);
      const { pid, exited } = await stubbornGroup(table);
      const writer = await zombie();
      const header = { ledger: 1, daemonId: table.daemonId, pid: writer, startTime: startTimeOf(writer) };
      const [, ...rest] = readFileSync(path, 'utf8').split('\n');
      writeFileSync(path, [JSON.stringify(header), ...rest].join('\n'));
      expect((await killOrphans(path, systemClock)).pids).toContain(pid);
      expect(await exited).toEqual([null, 'SIGKILL']);
      ledger.close();
    },
  );

  it('touches nothing while the daemon that wrote it lives', async () => {
    const ledger = new Ledger(path, table, log);
    const { pid } = await stubbornGroup(table);
    expect((await killOrphans(path, systemClock)).pids).toEqual([]);
    expect(alive(pid)).toBe(true);
    ledger.close();
  });

  it('drops exited processes, and stays small', async () => {
    const ledger = new Ledger(path, table, log);
    for (let count = 0; count < 2000; count += 1) {
      table.add({ pid: process.pid, name: 'x'.repeat(50), cookie: 'c' });
      table.remove(process.pid);
    }
    expect(statSync(path).size).toBeLessThan(200_000);
    const { pid } = await stubbornGroup(table);
    disown();
    expect((await killOrphans(path, systemClock)).pids).toContain(pid);
    ledger.close();
  });

  it('is readable by its owner only, and is removed after an orderly end', async () => {
    const ledger = new Ledger(path, table, log);
    await stubbornGroup(table);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await table.killAll();
    ledger.close();
    expect(existsSync(path)).toBe(false);
  });

  it('stays where something is left', async () => {
    const ledger = new Ledger(path, table, log);
    await stubbornGroup(table);
    ledger.close();
    expect(existsSync(path)).toBe(true);
  });

  it('survives half a line, a foreign line and a line whose pid would signal every process', async () => {
    const ledger = new Ledger(path, table, log);
    const { pid } = await stubbornGroup(table);
    appendFileSync(path, '{"came":{"pid":-1,"name":"all","cookie":"x","startTime":"1"}}\n');
    appendFileSync(
      path,
      '{"came":{"pid":0,"name":"all","cookie":"x","startTime":"1"}}\n{"later":2}\nnull\n{"came":{"pi',
    );
    disown();
    const { pids, unread } = await killOrphans(path, systemClock);
    expect(pids).toContain(pid);
    expect(unread).toBe('5 lines of it make no sense');
    ledger.close();
  });

  it('reports what could not be read, and nothing where all of it could', async () => {
    const unread = async (text: string) => {
      writeFileSync(path, text);
      return (await killOrphans(path, systemClock)).unread;
    };
    const header = '{"ledger":1,"daemonId":"x","pid":4194305,"startTime":"1"}\n';
    expect(await unread(header)).toBeUndefined();
    expect(await unread(`${header}{"went":7}\n`)).toBeUndefined();
    expect(await unread(`${header}{"went":7`)).toBe('a line of it makes no sense');
    expect(await unread('')).toBe('it does not say which daemon wrote it');
    expect(await unread('{"went":7}\n')).toBe('it does not say which daemon wrote it');
    expect((await killOrphans(folder, systemClock)).unread).toBe('it cannot be opened (EISDIR)');
  });

  it('lists which servers had containers, so that they can be found (P15)', async () => {
    const ledger = new Ledger(path, table, log);
    table.add({ pid: 4194304, name: 'boxed', cookie: 'c', docker: ['docker', '--context', 'x'] });
    disown();
    const { containers } = await killOrphans(path, systemClock);
    expect(containers).toEqual([{ docker: ['docker', '--context', 'x'], cookie: 'c' }]);
    table.remove(4194304);
    ledger.close();
  });

  it('that does not exist is no error', async () => {
    expect(await killOrphans(join(folder, 'none'), systemClock)).toEqual({
      names: [],
      pids: [],
      containers: [],
      isInUse: false,
    });
  });

  it('that cannot be written stops nothing, complains once, and is whole again afterwards (C4)', async () => {
    writeFileSync(join(folder, 'missing'), 'a file where a folder should be');
    const blocked = join(folder, 'missing', 'ledger');
    const ledger = new Ledger(blocked, table, log);
    const { pid } = await stubbornGroup(table);
    await stubbornGroup(table);
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain('the ledger cannot be written');
    rmSync(join(folder, 'missing'));
    await stubbornGroup(table);
    const text = readFileSync(blocked, 'utf8');
    expect(text).toContain(`"pid":${pid}`);
    expect(text.trim().split('\n')).toHaveLength(4);
    ledger.close();
  });
});
