import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readLog } from '../../src/log/read-log.js';
import { isAtLeast } from '../../src/shared/log-levels.js';
import { makeFolder } from '../support/folder.js';

const line = (msg: string, more: object = {}) =>
  `${JSON.stringify({ level: 30, time: '2026-01-01T00:00:00.000Z', msg, ...more })}\n`;
const texts = async (folder: string) => (await readLog(join(folder, 's.log'))).map(({ text }) => text);

describe('a log that is read', () => {
  it('has who said it, how loud, and whose it is', async () => {
    const folder = makeFolder({
      's.log':
        line('a', { source: 'stderr' }) + line('b', { source: 'mcp', logger: 'me', level: 50, of: 'x' }),
    });
    const time = '2026-01-01T00:00:00.000Z';
    expect(await readLog(join(folder, 's.log'))).toEqual([
      { time, level: 'info', source: 'stderr', text: 'a', of: undefined },
      { time, level: 'error', source: 'me', text: 'b', of: 'x' },
    ]);
  });

  it('goes on into the file before, when it was begun anew a moment ago', async () => {
    expect(await texts(makeFolder({ 's.log': line('new'), 's.log.1': line('old') }))).toEqual(['old', 'new']);
  });

  it('is its end only, and half a line is none', async () => {
    const many = Array.from({ length: 5000 }, (_, index) => line(`line ${index} ${'x'.repeat(50)}`)).join('');
    const read = await texts(makeFolder({ 's.log': `${many}{"half`, 's.log.1': line('old') }));
    expect(read.length).toBeGreaterThan(1000);
    expect(read.length).toBeLessThan(5000);
    expect(read[0]).toMatch(/^line \d+ /);
    expect(read.at(-1)).toMatch(/^line 4999 /);
  });

  it('leaves out what is damaged: it is of no time, and of nobody', async () => {
    const damaged = ['5', '{}', '[]', 'null', '"text"', '\0\0', '{"time":"never","msg":"x"}'].join('\n');
    expect(await texts(makeFolder({ 's.log': `${line('a')}${damaged}\n${line('b')}` }))).toEqual(['a', 'b']);
  });

  it('is empty where there is none', async () => {
    expect(await texts(makeFolder())).toEqual([]);
  });

  it('levels have an order', () => {
    expect([isAtLeast('warn', 'info'), isAtLeast('info', 'info'), isAtLeast('debug', 'info')]).toEqual([
      true,
      true,
      false,
    ]);
  });
});
