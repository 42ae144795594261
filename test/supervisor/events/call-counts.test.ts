import { expect, test } from 'vitest';
import { MCPTimeoutError } from '../../../src/shared/call-errors.js';
import type { Outcome } from '../../../src/shared/call-sink.js';
import { CallCounts } from '../../../src/supervisor/events/call-counts.js';

const DONE: Outcome = { ok: true, result: {} };
const ended = (name: unknown, outcome: Outcome = DONE, method = 'tools/call') => ({
  request: { method, params: { name } },
  outcome,
  elapsedMs: 1,
  incarnation: 1,
});

test('only tool calls that succeeded are counted, for each server apart', () => {
  const counts = new CallCounts();
  counts.add('a', ended('echo'));
  counts.add('a', ended('echo'));
  counts.add('b', ended('echo'));
  counts.add('a', ended('greet', DONE, 'prompts/get'));
  counts.add('a', ended('late', { ok: false, error: new MCPTimeoutError('late', {}) }));
  counts.add('a', ended('broken', { ok: true, result: { isError: true } }));
  counts.add('a', ended(7));
  expect(['echo', 'greet', 'late', 'broken', '7'].map((tool) => counts.of('a', 'a', tool))).toEqual([
    2, 0, 0, 0, 0,
  ]);
  counts.forget('a');
  expect([counts.of('a', 'a', 'echo'), counts.of('b', 'b', 'echo')]).toEqual([0, 1]);
});

test('a server that invents names cannot fill the memory, and known names are still counted', () => {
  const counts = new CallCounts();
  for (let at = 0; at < 5000; at += 1) counts.add('a', ended(`tool${at}`));
  counts.add('a', ended('tool0'));
  expect([counts.of('a', 'a', 'tool0'), counts.of('a', 'a', 'tool4999')]).toEqual([2, 0]);
});

test('calls of earlier daemons are read once, and count by the name of their server', async () => {
  let readings = 0;
  const counts = new CallCounts(async () => {
    readings += 1;
    return [{ server: 'a', tool: 'echo', count: 3 }];
  });
  counts.add('a~2', ended('echo'));
  expect([counts.of('a~2', 'a', 'echo'), readings]).toEqual([1, 0]);
  await Promise.all([counts.recall(), counts.recall()]);
  expect([counts.of('a~2', 'a', 'echo'), counts.of('b', 'b', 'echo'), readings]).toEqual([4, 0, 1]);
});
