import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readCalledTools } from '../../src/log/called-tools.js';
import { makeFolder } from '../support/folder.js';

const START = Date.parse('2026-11-18T12:00:00.000Z');
const BEFORE = '2026-11-18T11:00:00.000Z';

const record = (tool: string | null, more = {}) =>
  `${JSON.stringify({ topic: 'call', server: 'a', method: 'tools/call', tool, ok: true, at: BEFORE, ...more })}\n`;

test('tool calls that succeeded before the start are counted, also those of the file that was rotated', async () => {
  const file = join(makeFolder(), 'audit.log');
  writeFileSync(file, record('echo') + record('echo', { server: 'b' }));
  renameSync(file, `${file}.1`);
  writeFileSync(file, `{"torn${'\n'}not JSON\nnull\n7\n${record('echo')}`);
  appendFileSync(file, record('late', { at: '2026-11-18T12:00:00.000Z' }));
  appendFileSync(file, record('failed', { ok: false }) + record('greet', { method: 'prompts/get' }));
  appendFileSync(file, record(null) + record('undated', { at: 'once' }));
  expect(await readCalledTools(file, START)).toEqual([
    { server: 'a', tool: 'echo', count: 2 },
    { server: 'b', tool: 'echo', count: 1 },
  ]);
});

test('a missing file has no calls', async () => {
  expect(await readCalledTools(join(makeFolder(), 'audit.log'), START)).toEqual([]);
});

test('only the newest 4 MiB of a long file are read, in slices between which others run', async () => {
  const file = join(makeFolder(), 'audit.log');
  const newest = record('new').repeat(60_000);
  writeFileSync(file, record('old') + newest);
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 0);
  const called = await readCalledTools(file, START);
  clearInterval(timer);
  expect(called).toEqual([{ server: 'a', tool: 'new', count: expect.any(Number) }]);
  expect(called[0]!.count).toBeLessThan(60_000);
  expect(called[0]!.count).toBeGreaterThan((2 ** 22 / newest.length) * 60_000 - 2);
  expect(turns).toBeGreaterThan(1);
});
