import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LogTail } from '../../src/log/read-log.js';
import { makeFolder } from '../support/folder.js';

const line = (msg: string) => `${JSON.stringify({ level: 30, time: '2026-11-18T12:00:00.000Z', msg })}\n`;

function begin(text?: string) {
  const path = join(makeFolder(), 'daemon.log');
  if (text !== undefined) writeFileSync(path, text);
  const tail = new LogTail(path);
  const next = async () => (await tail.next()).map(({ text: said }) => said);
  return { path, next };
}

describe('the tail of a log', () => {
  it('has the lines since the last look, and none of before', async () => {
    const { path, next } = begin(line('old'));
    expect(await next()).toEqual([]);
    appendFileSync(path, line('a') + line('b'));
    expect(await next()).toEqual(['a', 'b']);
    expect(await next()).toEqual([]);
  });

  it('begins with a file that is made later', async () => {
    const { path, next } = begin();
    expect(await next()).toEqual([]);
    writeFileSync(path, line('a'));
    expect(await next()).toEqual(['a']);
  });

  it('has a line when it is whole', async () => {
    const { path, next } = begin('');
    const whole = line('näh');
    appendFileSync(path, whole.slice(0, 20));
    expect(await next()).toEqual([]);
    appendFileSync(path, whole.slice(20));
    expect(await next()).toEqual(['näh']);
  });

  it('loses nothing when the file is rotated', async () => {
    const { path, next } = begin(line('old'));
    appendFileSync(path, line('before'));
    renameSync(path, `${path}.1`);
    writeFileSync(path, line('x'));
    expect(await next()).toEqual(['before', 'x']);
    appendFileSync(path, line('more'));
    expect(await next()).toEqual(['more']);
  });
});
