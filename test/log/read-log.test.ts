import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readLog } from '../../src/log/read-log.js';
import { isAtLeast } from '../../src/shared/mcp/log-levels.js';
import { makeFolder } from '../support/folder.js';

const line = (msg: string, more: object = {}) =>
  `${JSON.stringify({ level: 30, time: '2026-01-01T00:00:00.000Z', msg, ...more })}\n`;
const texts = async (folder: string) => (await readLog(join(folder, 's.log'))).map(({ text }) => text);

describe('a log that is read', () => {
  it('has the source, the level and the server of each line', async () => {
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

  it('continues in the previous file after a rotation', async () => {
    expect(await texts(makeFolder({ 's.log': line('new'), 's.log.1': line('old') }))).toEqual(['old', 'new']);
  });

  it('is the end of the file only, without a half line', async () => {
    const many = Array.from({ length: 5000 }, (_, index) => line(`line ${index} ${'x'.repeat(50)}`)).join('');
    const read = await texts(makeFolder({ 's.log': `${many}{"half`, 's.log.1': line('old') }));
    expect(read.length).toBeGreaterThan(1000);
    expect(read.length).toBeLessThan(5000);
    expect(read[0]).toMatch(/^line \d+ /);
    expect(read.at(-1)).toMatch(/^line 4999 /);
  });

  it('leaves out damaged lines', async () => {
    const damaged = ['5', '{}', '[]', 'null', '"text"', '\0\0', '{"time":"never","msg":"x"}'].join('\n');
    expect(await texts(makeFolder({ 's.log': `${line('a')}${damaged}\n${line('b')}` }))).toEqual(['a', 'b']);
  });

  it('is empty without a file', async () => {
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
