import { describe, expect, test } from 'vitest';
import type { LastError, ListStatus, ServerStatus } from '../../src/fleet/fleet.js';
import { missingLists } from '../../src/fleet/missing-lists.js';

const SINCE = '2026-01-01T00:00:00.000Z';
const NOW = Date.parse(SINCE) + 5000;
const crashed: LastError = { message: 'srv: exited with code 1', cause: 'exit', at: SINCE };

const reasons = (
  freshness: ListStatus['freshness'],
  status: Partial<Pick<ServerStatus, 'state' | 'detail' | 'last_error' | 'next_retry_at'>>,
) => {
  const server = {
    ...{ name: 'srv', state: 'created', detail: 'idle', since: SINCE, last_error: null, next_retry_at: null },
    ...status,
    lists: { tools: { freshness } },
  };
  return missingLists(server as unknown as ServerStatus, NOW).map(({ reason }) => reason);
};

describe('a list is missing', () => {
  test('an unknown list is missing, with the state of its server as reason', () => {
    expect(reasons('unknown', {})).toEqual(['it was never started']);
    expect(reasons('unknown', { state: 'connecting', detail: 'running' })).toEqual([
      'has been starting for 5 s',
    ]);
    expect(reasons('unknown', { state: 'error', last_error: crashed })).toEqual([
      'it does not run: exited with code 1',
    ]);
    const next_retry_at = new Date(NOW + 3000).toISOString();
    expect(
      reasons('unknown', { state: 'error', detail: 'waiting', last_error: crashed, next_retry_at }),
    ).toEqual(['exited with code 1; next try in 3 s']);
  });

  test.each(['waiting', 'quarantined'] as const)(
    'a list whose server is %s without an error is missing, with a reason',
    (detail) => {
      const [reason] = reasons('unknown', { state: 'disconnected', detail });
      expect(reason).not.toContain('undefined');
    },
  );

  test('a stale list of a server that is not connected is missing; the reason says that the old list is shown', () => {
    const shown = '; what it last listed is shown';
    expect(reasons('stale', { state: 'connected', detail: 'running' })).toEqual([]);
    expect(reasons('stale', { state: 'error', detail: 'quarantined', last_error: crashed })).toEqual([
      `it is quarantined: exited with code 1${shown}`,
    ]);
    expect(reasons('stale', { state: 'disconnected', detail: 'stopped' })).toEqual([`it is stopped${shown}`]);
    // an error of an earlier process is not why it does not run now
    expect(reasons('stale', { state: 'disconnected', last_error: crashed })).toEqual([
      `it is at rest${shown}`,
    ]);
  });

  test('a cached list is missing if its server cannot start, but not while the server is at rest', () => {
    expect(reasons('cached', {})).toEqual([]);
    expect(reasons('cached', { state: 'disconnected', detail: 'stopped' })).toEqual([]);
    expect(reasons('cached', { state: 'connecting', detail: 'running' })).toEqual([]);
    expect(reasons('cached', { state: 'error', last_error: crashed })).toEqual([
      'it does not run: exited with code 1; what it last listed is shown',
    ]);
  });

  test('a list whose reading failed is missing, with the time of the next one', () => {
    const reasonsAfter = (status: Partial<ServerStatus>, next_try_at: string | null = null) => {
      const failed: ListStatus = { freshness: 'failed', reason: 'timed out', next_try_at };
      const server = { name: 'srv', detail: 'running', since: SINCE, lists: { tools: failed }, ...status };
      return missingLists(server as unknown as ServerStatus, NOW).map(({ reason }) => reason);
    };
    const singleton = { state: 'connected', lifecycle: 'singleton' } as const;
    const transient: Partial<ServerStatus> = {
      ...{ state: 'connected', lifecycle: 'transient', pids: [1], in_flight: 1 },
    };
    const next = new Date(NOW + 2000).toISOString();
    expect(reasonsAfter(singleton, next)).toEqual(['timed out; next try in 2 s']);
    expect(reasonsAfter(singleton)).toEqual(['timed out; it is being read again']);
    expect(reasonsAfter({ ...singleton, state: 'disconnected' })).toEqual([
      'timed out; it is read at the next start',
    ]);
    // the only process of a transient server has a call, and reads nothing
    expect(reasonsAfter(transient)).toEqual(['timed out; it is read at the next start']);
    expect(reasonsAfter({ ...transient, pids: [1, 2] })).toEqual(['timed out; it is being read again']);
  });
});
