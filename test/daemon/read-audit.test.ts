import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readAudit } from '../../src/daemon/read-audit.js';
import type { AuditParams, CallEvent, ViewScope } from '../../src/fleet/fleet.js';
import { makeFolder } from '../support/folder.js';

function record(index: number, changes: Partial<CallEvent> = {}): CallEvent {
  return {
    topic: 'call',
    server: 'one',
    method: 'tools/call',
    tool: 'echo',
    arguments: null,
    caller: 'connection 1',
    daemon_pid: 1,
    via: 'socket',
    client: { name: 'cursor', version: '1' },
    agent: null,
    request_id: null,
    incarnation: 1,
    sent: true,
    duration_ms: index,
    ok: true,
    error: null,
    code: null,
    bytes: 1,
    at: new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString(),
    ...changes,
  };
}

function auditOf(records: readonly unknown[]): string {
  const file = join(makeFolder({}), 'audit.log');
  writeFileSync(file, records.map((one) => `${JSON.stringify(one)}\n`).join(''));
  return file;
}

const durations = async (file: string, params: AuditParams, scope?: ViewScope) =>
  (await readAudit(file, params, scope)).calls.map(({ duration_ms }) => duration_ms);

describe('a search of the audit', () => {
  test('gives the newest call first, page by page, each once', async () => {
    const file = auditOf(Array.from({ length: 25 }, (_, index) => record(index)));
    const seen: number[] = [];
    let before: string | undefined;
    for (let pages = 0; pages < 3; pages += 1) {
      const page = await readAudit(file, { limit: 10, before });
      seen.push(...page.calls.map(({ duration_ms }) => duration_ms));
      before = page.next ?? undefined;
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => 24 - index));
    expect(before).toBeUndefined();
  });

  test('each filter chooses by its field, and text looks into every name', async () => {
    const file = auditOf([
      record(1, { server: 'two' }),
      record(2, { tool: 'add', called_as: 'sum', profile: 'red' }),
      record(3, { caller: 'connection 9' }),
      record(4, { client: { name: 'Zed', version: null } }),
      record(5, { agent: '/p/agent.yaml' }),
      record(6, { ok: false, error: 'MCPTimeoutError', code: -32_000 }),
      record(7, { client: null, tool: null, method: 'resources/read', request_id: 'mine' }),
    ]);
    expect(await durations(file, { server: 'two' })).toEqual([1]);
    expect(await durations(file, { tool: 'add' })).toEqual([2]);
    expect(await durations(file, { tool: 'sum' })).toEqual([2]);
    expect(await durations(file, { profile: 'red' })).toEqual([2]);
    expect(await durations(file, { caller: 'connection 9' })).toEqual([3]);
    expect(await durations(file, { client: 'Zed' })).toEqual([4]);
    expect(await durations(file, { agent: '/p/agent.yaml' })).toEqual([5]);
    expect(await durations(file, { outcome: 'failed' })).toEqual([6]);
    expect(await durations(file, { outcome: 'ok', text: 'ZED' })).toEqual([4]);
    expect(await durations(file, { text: 'timeout' })).toEqual([6]);
    expect(await durations(file, { text: 'mine' })).toEqual([7]);
    expect(await durations(file, { since: record(6).at })).toEqual([7, 6]);
    expect(await durations(file, {}, { agent: '/p/agent.yaml', profile: null })).toEqual([5]);
    expect(await durations(file, { server: 'two' }, { agent: null, profile: 'red' })).toEqual([]);
  });

  test('figures count every match, and rank tools by their slow and their failed calls', async () => {
    const slow = Array.from({ length: 100 }, (_, index) => record(index, { tool: 'slow' }));
    const failing = Array.from({ length: 3 }, () =>
      record(1, { tool: 'bad', ok: false, error: 'MCPToolError' }),
    );
    const {
      slowest,
      failing: ranked,
      calls,
      searched,
    } = await readAudit(auditOf([...slow, ...failing]), { limit: 1 });
    expect(calls).toHaveLength(1);
    expect(searched).toEqual({ from: record(0).at, records: 103, complete: true });
    expect(slowest).toEqual([
      { server: 'one', tool: 'slow', calls: 100, failures: 0, p50_ms: 50, p99_ms: 99 },
      { server: 'one', tool: 'bad', calls: 3, failures: 3, p50_ms: 1, p99_ms: 1 },
    ]);
    expect(ranked.map(({ tool }) => tool)).toEqual(['bad']);
  });

  test('a search ends at its limit, says so, and goes on from there', async () => {
    const padding = 'x'.repeat(60_000);
    const file = auditOf(Array.from({ length: 400 }, (_, index) => record(index, { method: padding })));
    const first = await readAudit(file, { text: 'no such text' });
    expect(first.calls).toEqual([]);
    expect(first.searched.complete).toBe(false);
    expect(first.searched.records).toBeLessThan(400);
    const second = await readAudit(file, { text: 'no such text', before: first.next ?? undefined });
    expect(second.searched.complete).toBe(true);
    expect(first.searched.records + second.searched.records).toBe(400);
    expect(second.next).toBeNull();
  });

  test('lines that are cut or are no records are left out', async () => {
    const file = auditOf([record(1)]);
    writeFileSync(file, `{"topic":"call"}\nnot json\n${JSON.stringify(record(2))}\n{"topic":"ca`);
    expect(await durations(file, {})).toEqual([2]);
  });
});
