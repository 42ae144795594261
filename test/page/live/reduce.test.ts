import { describe, expect, it } from 'vitest';
import type { ServerStatus, StateEvent } from '../../../src/fleet/fleet.js';
import { withEvents } from '../../../src/page/live/reduce.js';
import { callOf, daemonOf, serverOf } from '../support.js';

const statusOf = (...servers: ServerStatus[]) => ({ servers, daemon: daemonOf() });
const changed = (server: string, more: Partial<StateEvent> = {}): StateEvent => ({
  topic: 'state',
  server,
  incarnation: 2,
  state: 'error',
  detail: 'waiting',
  cause: 'it crashed',
  at: '2026-11-18T12:00:05.000Z',
  ...more,
});

describe('the status after events', () => {
  it('a changed state is shown at once, with the time of the change', () => {
    const { servers } = withEvents(statusOf(serverOf('a'), serverOf('b')), [changed('a')]);
    expect(servers[0]).toMatchObject({
      state: 'error',
      detail: 'waiting',
      since: '2026-11-18T12:00:05.000Z',
    });
    expect(servers[1]).toEqual(serverOf('b'));
  });

  it('the last of several changes counts', () => {
    const events = [changed('a'), changed('a', { state: 'connected', detail: 'running' })];
    expect(withEvents(statusOf(serverOf('a')), events).servers[0]).toMatchObject({ detail: 'running' });
  });

  it('an event that is older than the fetched status changes nothing', () => {
    const old = changed('a', { at: '2026-11-18T11:59:59.000Z' });
    expect(withEvents(statusOf(serverOf('a')), [old]).servers[0]).toEqual(serverOf('a'));
  });

  it('a server with replicas waits for the next status, because an event is that of one replica', () => {
    const server = serverOf('a', { pids: [1, 2] });
    expect(withEvents(statusOf(server), [changed('a')]).servers[0]).toEqual(server);
  });

  it('servers of one name in several views wait for the next status', () => {
    const status = statusOf(serverOf('a'), serverOf('a', { agent: '/x/agent.yaml' }));
    expect(withEvents(status, [changed('a')]).servers).toEqual(status.servers);
  });

  it('events of other topics leave the same status', () => {
    const status = statusOf(serverOf('a'));
    expect(withEvents(status, [callOf()])).toBe(status);
  });
});
