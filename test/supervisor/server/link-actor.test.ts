import { describe, expect, test } from 'vitest';
import { createActor, createMachine } from 'xstate';
import type { LinkOrder, LinkReport } from '../../../src/machines/link-protocol.js';
import type { Reading } from '../../../src/supervisor/catalog/lists.js';
import { linkCallback } from '../../../src/supervisor/server/link-actor.js';
import { linkLogic } from '../../../src/supervisor/server/shared-machines.js';
import { type FakeLinkBehaviour, failure } from '../fake-link.js';
import { Caller, EVERY_LIST, request, settled, spec, World } from '../world.js';

/** The link as a child, and all that it reports. */
function createLink(behaviour: FakeLinkBehaviour = {}, changes: Parameters<typeof spec>[0] = {}) {
  const world = new World();
  world.behaviour = () => behaviour;
  const told: string[] = [];
  const state = { wantsLists: true };
  const lists: Reading[] = [];
  const link = linkCallback(spec(changes), world.clock, world.open, {
    linked: (_, incarnation) => told.push(`linked ${incarnation}`),
    installing: () => undefined,
    shookHands: ({ protocolVersion }) => told.push(`opened ${protocolVersion}`),
    take: (reading) => lists.push(reading),
    doubt: () => {},
    toRead: () => (state.wantsLists ? EVERY_LIST : new Map()),
    log: (line) => world.logs.push(line),
  });
  const reports: LinkReport[] = [];
  const parent = createActor(
    createMachine({
      invoke: { src: linkLogic, id: 'link', input: { name: 'srv', incarnation: 7, host: { link } } },
      on: { '*': { actions: ({ event }) => reports.push(event as LinkReport) } },
    }),
  ).start();
  const order = (type: LinkOrder['type']) => parent.getSnapshot().children.link?.send({ type });
  return { world, told, lists, reports, order, state, parent };
}

describe('the link actor', () => {
  test('opens the link, informs its host, and reports the handshake', () => {
    const { world, told, reports, order } = createLink();
    order('open');
    expect([told, reports]).toEqual([['linked 7'], []]);
    world.newest.opens();
    expect([told, reports]).toEqual([['linked 7', 'opened 2025-06-18'], [{ type: 'link.opened' }]]);
  });

  test.each([
    [
      'a crash',
      { kind: 'error', cause: 'exit', code: 7, signal: null, message: 'it died', fix: 'f' },
      [{ type: 'link.exited', code: 7, signal: null, message: 'it died', fix: 'f' }],
    ],
    [
      'a clean end',
      { kind: 'disconnected', reason: 'ended', killed: false },
      [{ type: 'link.exited', code: 0, signal: null, message: 'it exited without an order' }],
    ],
    [
      'an exit with code 0 that left calls behind',
      { kind: 'error', cause: 'exit', code: 0, signal: null, message: 'exited with code 0' },
      [
        {
          type: 'link.failed',
          failure: { cause: 'exit', code: 0, signal: null, message: 'exited with code 0' },
        },
      ],
    ],
    [
      'a failure',
      failure('srv', { permanent: true }),
      [
        {
          type: 'link.failed',
          failure: { cause: 'spawn', message: 'srv: could not be started', permanent: true },
        },
      ],
    ],
  ] as const)('reports an end without an order: %s', (_, ending, expected) => {
    const { world, reports, order } = createLink();
    order('open');
    world.newest.goes(ending);
    expect(reports).toEqual(expected);
  });

  test('reports closed at once to a close after a failure', () => {
    const { world, reports, order } = createLink();
    order('open');
    world.newest.goes(failure('srv'));
    order('close');
    expect(reports.at(-1)).toEqual({ type: 'link.closed', killed: false });
    expect(world.newest.orders).toEqual([]);
  });

  test('reports closed at once to a close before an open', () => {
    const { reports, order } = createLink();
    order('close');
    expect(reports).toEqual([{ type: 'link.closed', killed: false }]);
  });

  test.each([
    [
      { kind: 'disconnected', reason: 'stopped', killed: true },
      { type: 'link.closed', killed: true },
    ],
    [
      { kind: 'error', cause: 'exit', message: 'x' },
      { type: 'link.closed', killed: false },
    ],
    [
      { kind: 'error', cause: 'close', message: 'it survived' },
      { type: 'link.close_failed', message: 'it survived' },
    ],
  ] as const)('reports the end that was ordered: %o', (ending, expected) => {
    const { world, reports, order } = createLink({ opens: false, goes: 'never' });
    order('open');
    order('close');
    order('kill');
    world.newest.goes(ending);
    expect([reports, world.newest.orders]).toEqual([[expected], ['close', 'kill']]);
  });

  test('reports an open that throws as a failure', () => {
    const { world, reports, order } = createLink();
    world.throws = new Error('out of luck');
    order('open');
    order('close');
    expect(reports).toEqual([
      { type: 'link.failed', failure: { cause: 'bug', message: 'srv: out of luck' } },
      { type: 'link.closed', killed: false },
    ]);
  });

  test('P8: reports a hung server with its reason, and its session takes no more calls', async () => {
    const ping = () => Promise.reject(new Error('no answer to ping'));
    const { world, reports, order } = createLink({ ping }, { ping: { intervalMs: 100, timeoutMs: 10 } });
    order('open');
    world.newest.opens();
    await world.passes(100);
    expect(reports).toContainEqual({ type: 'link.hung', message: 'no answer to ping' });
    const late = new Caller();
    world.newest.session.send(request(), late);
    expect(late.error.type).toBe('ServerUnavailableError');
  });

  test('reads the lists once at a time; orders meanwhile cause one more reading', async () => {
    let finish = (_: never[]) => {};
    const slow = new Promise<never[]>((resolve) => {
      finish = resolve;
    });
    const { world, reports, lists, order } = createLink({ lists: { 'tools/list': slow } });
    order('open');
    world.newest.opens();
    for (let count = 0; count < 3; count += 1) order('discover');
    await settled();
    expect(world.newest.reads.length).toBe(4);
    finish([]);
    await settled();
    expect([lists.length, world.newest.reads.length]).toEqual([2, 8]);
    expect(reports.filter(({ type }) => type === 'link.discovered').length).toBe(1);
    order('discover');
    await settled();
    expect(lists.length).toBe(3);
  });

  test('does not read lists that are known', async () => {
    const { world, reports, lists, order, state } = createLink();
    state.wantsLists = false;
    order('open');
    world.newest.opens();
    order('discover');
    await settled();
    expect([lists, world.newest.reads, reports.at(-1)]).toEqual([[], [], { type: 'link.discovered' }]);
  });

  test('drops lists that arrive while the link dies or closes', async () => {
    for (const end of ['dies', 'close'] as const) {
      const { world, lists, order } = createLink({ opens: false, goes: 'never' });
      order('open');
      world.newest.opens();
      order('discover');
      if (end === 'dies') world.newest.dies();
      else order('close');
      await settled();
      expect(lists).toEqual([]);
    }
  });

  test('I6: kills its process when it is stopped, and none that has exited', () => {
    const { world, order, parent } = createLink({ goes: 'killed' });
    order('open');
    parent.stop();
    expect(world.newest.orders).toEqual(['kill']);
    const other = createLink();
    other.order('open');
    other.world.newest.crashes();
    other.parent.stop();
    expect(other.world.newest.orders).toEqual([]);
  });
});
