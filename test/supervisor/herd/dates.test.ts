import { expect, test } from 'vitest';
import type { FleetEvent } from '../../../src/fleet/fleet.js';
import { settled, spec, World } from '../world.js';

const EIGHT_HOURS_MS = 8 * 3600_000;
const EVENING_MS = Date.parse('2026-11-17T22:00:00.000Z');
const TOOLS = [{ name: 'tool', inputSchema: { type: 'object' } }];
const MORNING = '2026-11-18T06:00';

/** A herd on a machine that can sleep: its date goes on meanwhile, and its clock does not. */
function sleepyHerd(changes: Parameters<typeof spec>[0] = {}) {
  const world = new World();
  world.behaviour = () => ({ opens: true, answers: true, lists: { 'tools/list': TOOLS } });
  let sleptMs = 0;
  const { clock } = world;
  const audit: string[] = [];
  const herd = world.herd({
    clock: {
      now: () => clock.now(),
      date: () => EVENING_MS + clock.now() + sleptMs,
      setTimeout: (fire, ms) => clock.setTimeout(fire, ms),
      clearTimeout: (timer) => clock.clearTimeout(timer as number),
    },
    audit: (record) => audit.push(record),
  });
  herd.apply([spec(changes)]);
  const events: FleetEvent[] = [];
  herd.view.events.subscribe(['state', 'call', 'catalog', 'log'], (event) => events.push(event));
  const sleep = () => {
    sleptMs += EIGHT_HOURS_MS;
  };
  return { world, herd, events, audit, sleep, status: () => herd.view.status()[0]! };
}

test('After a sleep of the machine every date of status, journal, events and audit is right', async () => {
  const { world, herd, events, audit, sleep, status } = sleepyHerd();
  await herd.view.order('start', { servers: ['srv'] }, true);
  await settled();
  expect(status().since).toMatch(/^2026-11-17T22:00/);
  sleep();
  events.length = 0;
  const before = herd.view.inspect('srv').journal.length;
  await herd.view.calls.call({ server: 'srv', tool: 'tool' });
  herd.flushRecords();
  world.newest.crashes(7);
  await settled();
  const dates = [
    status().since,
    status().last_error?.at,
    ...herd.view
      .inspect('srv')
      .journal.slice(before)
      .map(({ at }) => at),
    ...events.map(({ at }) => at),
    ...audit.map((record) => (JSON.parse(record) as { at: string }).at),
  ];
  expect(dates.length).toBeGreaterThan(6);
  expect(dates.filter((at) => at?.startsWith(MORNING) !== true)).toEqual([]);
});

test('A failure of yesterday keeps its date while the machine sleeps, and the next try gets that of today', async () => {
  const { world, herd, sleep, status } = sleepyHerd();
  world.behaviour = () => ({ opens: false });
  await herd.view.order('start', { servers: ['srv'] });
  await settled();
  world.newest.crashes(7);
  await settled();
  world.newest.crashes(7);
  await settled();
  expect(status()).toMatchObject({
    detail: 'waiting',
    last_error: { at: expect.stringMatching(/^2026-11-17T22/) },
  });
  sleep();
  expect(status()).toMatchObject({
    last_error: { at: expect.stringMatching(/^2026-11-17T22/) },
    next_retry_at: expect.stringMatching(/^2026-11-18T06:00/),
  });
});

test('A sleep of the machine adds nothing to the duration of a call', async () => {
  const { world, herd, audit, sleep } = sleepyHerd();
  world.behaviour = () => ({ opens: true, lists: { 'tools/list': TOOLS } });
  await herd.view.order('start', { servers: ['srv'] }, true);
  await settled();
  const call = herd.view.calls.call({ server: 'srv', tool: 'tool' });
  await settled();
  sleep();
  world.clock.advance(20);
  world.newest.answers();
  await call;
  herd.flushRecords();
  expect(JSON.parse(audit.at(-1) ?? '{}')).toMatchObject({ duration_ms: 20 });
});
