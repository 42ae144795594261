import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Logs } from '../../src/log/logs.js';
import { makeFolder } from '../support/folder.js';
import { HAS_PROC } from '../support/processes.js';

function openLogs(level = 'info') {
  const folder = makeFolder();
  const echoed: string[] = [];
  const logs = new Logs({
    folder,
    level,
    maxBytes: 10_000,
    redact: (text) => text.replaceAll('hunter2', '[PASSWORD]'),
    echo: { write: (text) => echoed.push(text) },
  });
  onTestFinished(() => logs.close());
  const lines = (name: string) =>
    readFileSync(join(folder, name), 'utf8')
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as Record<string, unknown>);
  const servers = () => readdirSync(join(folder, 'servers'));
  return { folder, logs, lines, servers, echoed };
}

/** How many files of a folder this process has open. */
function openBelow(folder: string): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
    } catch {
      // it was open for the list only
      return false;
    }
  }).length;
}

describe('the logs', () => {
  test('one file for the daemon, one for each server, JSON a line, echoed', () => {
    const { logs, lines, echoed } = openLogs();
    logs.daemon.info({ a: 1 }, 'hello');
    logs.server('srv').warn({ source: 'stderr' }, 'oh');
    logs.server('srv').info('again');
    expect(lines('daemon.log')).toMatchObject([{ level: 30, a: 1, msg: 'hello' }]);
    expect(lines('servers/srv.log')).toMatchObject([
      { level: 40, source: 'stderr', msg: 'oh' },
      { msg: 'again' },
    ]);
    expect(lines('daemon.log')[0]?.time).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(echoed.length).toBe(3);
  });

  test('control characters are escaped in the file and in the echo, and the same text when it is read', () => {
    const { logs, lines, folder, echoed } = openLogs();
    const evil = 'csi \u009B31m osc \u009D0;x\u009C del \u007F rlo \u202E lri \u2066 esc \u001B[2J';
    logs.server('srv').info(evil);
    expect(lines('servers/srv.log')).toMatchObject([{ msg: evil }]);
    for (const text of [readFileSync(join(folder, 'servers', 'srv.log'), 'utf8'), ...echoed]) {
      expect(text).toMatch(/^[\u0020-\u007E]+\n$/);
    }
  });

  test('a thousand names need no more than 64 open files, and lose no line', () => {
    const { logs, lines, folder } = openLogs();
    const open = () => openBelow(join(folder, 'servers'));
    for (const round of [1, 2])
      for (let n = 0; n < 1000; n += 1) logs.server(`name-${n}`).info(`line ${round}`);
    if (HAS_PROC) expect(open()).toBe(64);
    expect(lines('servers/name-0.log')).toMatchObject([{ msg: 'line 1' }, { msg: 'line 2' }]);
    logs.close();
    if (HAS_PROC) expect(open()).toBe(0);
  });

  test('nothing below their level is written', () => {
    const { folder, logs } = openLogs('error');
    logs.daemon.info('hello');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('X1: no secret reaches a file or the echo', () => {
    const { folder, logs, echoed } = openLogs();
    logs.server('srv').info({ deep: { key: 'hunter2' } }, 'the password is hunter2');
    expect(readFileSync(join(folder, 'servers/srv.log'), 'utf8') + echoed.join()).not.toContain('hunter2');
  });

  test('the file of any server name stays in the folder, and no two servers share one', () => {
    const { folder, logs, servers } = openLogs();
    const names = [
      'a',
      '../../etc/passwd',
      'a/b',
      'a%2Fb',
      '..',
      '.',
      'ä',
      '\uD800',
      '\uD801',
      'x'.repeat(300),
      `${'x'.repeat(300)}y`,
    ];
    for (const name of names) logs.server(name).info(name.slice(0, 5));
    expect(servers().length).toBe(names.length);
    expect(readdirSync(folder).sort()).toEqual(['servers']);
    for (const name of servers()) expect(name.length).toBeLessThan(230);
  });

  test('two names that differ in a lone surrogate do not share a file', () => {
    const { logs, servers } = openLogs();
    for (const name of ['\uD800', '\uDBFF', '\uFFFD']) logs.server(name).info('x');
    expect(servers().length).toBe(3);
  });
});
