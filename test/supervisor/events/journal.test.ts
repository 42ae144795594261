import { describe, expect, test } from 'vitest';
import type { JournalEntry, StateEvent } from '../../../src/fleet/fleet.js';
import { settled, spec, World } from '../world.js';

const steps = (entries: readonly JournalEntry[]) =>
  entries.map(
    ({ chart, incarnation, from, to, cause }) => `${chart} ${incarnation}: ${from} → ${to} (${cause})`,
  );

function startHerd(changes: Parameters<typeof spec>[0] = {}, redact = <T>(value: T): T => value) {
  const world = new World();
  world.behaviour = () => ({ opens: true });
  const herd = world.herd({ redact });
  herd.apply([spec(changes)]);
  const events: StateEvent[] = [];
  herd.view.events.subscribe(['state'], (event) => events.push(event));
  const journal = () => herd.view.inspect('srv').journal;
  return { world, herd, journal, events };
}

describe('the journal', () => {
  test('has the transitions of a server in order, each with its cause', async () => {
    const { world, herd, journal } = startHerd();
    expect(journal()).toEqual([]);
    await herd.view.order('start', { servers: ['srv'] }, true);
    await settled();
    world.newest.crashes(7);
    await settled();
    await herd.view.order('stop', { servers: ['srv'] }, true);
    expect(steps(journal())).toEqual([
      'keeper 1: idle → running.starting.queued (start was ordered)',
      'server 1:  → created (a new incarnation)',
      'keeper 1: running.starting.queued → running.starting.connecting (it is its turn to start)',
      'server 1: created → connecting.opening (it is its turn to start)',
      'server 1: connecting.opening → connected.discovering (the handshake is done)',
      'keeper 1: running.starting.connecting → running.up (the handshake is done)',
      'server 1: connected.discovering → connected.serving (its lists were read)',
      'server 1: connected.serving → error (srv: exited with code 7)',
      'keeper 2: running.up → running.starting.queued (srv: exited with code 7)',
      'server 2:  → created (a new incarnation)',
      'keeper 2: running.starting.queued → running.starting.connecting (it is its turn to start)',
      'server 2: created → connecting.opening (it is its turn to start)',
      'server 2: connecting.opening → connected.discovering (the handshake is done)',
      'keeper 2: running.starting.connecting → running.up (the handshake is done)',
      'server 2: connected.discovering → connected.serving (its lists were read)',
      'keeper 2: running.up → running.stopping (stop was ordered)',
      'server 2: connected.serving → connected.closing.asking (stop was ordered)',
      'server 2: connected.closing.asking → disconnected (closed, nothing of it is left)',
      'keeper 2: running.stopping → stopped (it was stopped)',
    ]);
  });

  test('gives a kind to each transition that matters outside of its statechart, and to no other', async () => {
    const { world, herd, journal } = startHerd();
    const kinds = () => journal().flatMap(({ chart, kind }) => (kind ? [`${chart} ${kind}`] : []));
    await herd.view.order('start', { servers: ['srv'] }, true);
    await settled();
    world.newest.crashes(7);
    await settled();
    await herd.view.order('stop', { servers: ['srv'] }, true);
    const start = ['server started', 'server ready'];
    const crash = ['server failed', 'keeper restarting'];
    const stop = ['server asked_to_exit', 'server ended'];
    expect(kinds()).toEqual(['keeper starting', ...start, ...crash, ...start, ...stop]);
  });

  test('has the failure of a start once, when it fails, and then the wait', async () => {
    const { world, herd, journal } = startHerd({ startTimeoutMs: 1000 });
    world.behaviour = () => ({ opens: false });
    await herd.view.order('start', { servers: ['srv'] });
    await settled();
    await world.passes(10_000);
    const kinds = journal().flatMap(({ kind }) => kind ?? []);
    expect(kinds.slice(0, 4)).toEqual(['starting', 'started', 'failed', 'waiting']);
  });

  test('does not call a start that was stopped a failure', async () => {
    const { world, herd, journal } = startHerd();
    world.behaviour = () => ({ opens: false });
    await herd.view.order('start', { servers: ['srv'] });
    await settled();
    await herd.view.order('stop', { servers: ['srv'] });
    await settled();
    const kinds = journal().flatMap(({ kind }) => kind ?? []);
    expect(kinds).toEqual(['starting', 'started', 'asked_to_exit', 'ended']);
  });

  test('has the failure of a close that was ordered', async () => {
    const { world, herd, journal } = startHerd();
    await herd.view.order('start', { servers: ['srv'] }, true);
    await settled();
    world.newest.behaviour = { goes: 'never' };
    const stopped = herd.view.order('stop', { servers: ['srv'] }, true);
    await settled();
    world.newest.goes({ kind: 'error', cause: 'close', message: 'srv: HTTP 500 to DELETE' });
    await stopped;
    const last = journal().flatMap(({ kind, cause }) => (kind ? [`${kind}: ${cause}`] : []));
    expect(last.slice(-2)).toEqual(['asked_to_exit: stop was ordered', 'failed: srv: HTTP 500 to DELETE']);
  });

  test('keeps the latest 200 transitions', async () => {
    const { world, herd, journal } = startHerd({ restart: 'never' });
    for (let round = 0; round < 40; round += 1) {
      await herd.view.order('start', { servers: ['srv'] }, true);
      world.newest.crashes(round + 1);
      await settled();
    }
    expect(journal().length).toBe(200);
    expect(journal().at(-1)).toMatchObject({
      chart: 'keeper',
      to: 'idle',
      cause: 'srv: exited with code 40',
    });
  });

  test('X1: is redacted', async () => {
    const hide = <T>(value: T): T =>
      JSON.parse(JSON.stringify(value).replaceAll('hunter2', '[PASSWORD]')) as T;
    const { world, herd, journal, events } = startHerd({ restart: 'never' }, hide);
    await herd.view.order('start', { servers: ['srv'] }, true);
    world.newest.goes({ kind: 'error', cause: 'protocol', message: 'bad password hunter2' });
    await settled();
    expect(steps(journal()).filter((line) => line.includes('[PASSWORD]')).length).toBeGreaterThan(0);
    expect(JSON.stringify([journal(), events, herd.view.status()])).not.toContain('hunter2');
  });

  test('has the transitions of transient processes', async () => {
    const { world, herd, journal, events } = startHerd({ lifecycle: 'transient' });
    void herd.view.calls.call({ server: 'srv', tool: 'x' });
    await settled();
    world.newest.answers();
    await settled();
    expect(steps(journal())).toEqual([
      'server 1:  → created (a new incarnation)',
      'server 1: created → connecting.opening (it is its turn to start)',
      'server 1: connecting.opening → connected.discovering (the handshake is done)',
      'server 1: connected.discovering → connected.serving (its lists were read)',
      'server 1: connected.serving → connected.closing.asking (stop was ordered)',
      'server 1: connected.closing.asking → disconnected (closed, nothing of it is left)',
    ]);
    expect(events.at(-1)).toMatchObject({ state: 'disconnected', detail: 'idle' });
  });

  test('keeps servers apart whose names look like internal ids', async () => {
    const world = new World();
    const herd = world.herd();
    const names = ['a', 'a@1', 'a@1#0', 'a@1.1', 'server.1'];
    herd.apply(names.map((name) => spec({ name })));
    await herd.view.order('start', { servers: ['a@1#0'] });
    await settled();
    expect(names.filter((name) => herd.view.inspect(name).journal.length > 0)).toEqual(['a@1#0']);
  });

  test('forgets a server that is no longer configured, after its last process is gone', async () => {
    const { world, herd, journal } = startHerd();
    await herd.view.order('start', { servers: ['srv'] }, true);
    herd.apply([]);
    await settled();
    expect(world.alive).toEqual([]);
    herd.apply([spec({ enabled: false })]);
    expect(journal()).toEqual([]);
    expect(herd.view.status(['srv'])[0]?.since).toBe(new Date(0).toISOString());
  });
});

describe('`since` in the status', () => {
  test('is the time of the last change of state, not of a transition inside a state', async () => {
    const { world, herd } = startHerd();
    await herd.view.order('start', { servers: ['srv'] }, true);
    await settled();
    world.clock.advance(60_000);
    world.newest.says('notifications/tools/list_changed');
    await world.passes(100);
    expect(herd.view.status()[0]?.since).toBe(new Date(0).toISOString());
    world.newest.crashes();
    await settled();
    expect(herd.view.status()[0]?.since).toBe(new Date(60_100).toISOString());
  });
});

describe('`since` of a server that was added or changed later', () => {
  test('is the time when its entry was added or changed, not the start of the daemon', () => {
    const { world, herd } = startHerd();
    world.clock.advance(60_000);
    herd.apply([spec(), spec({ name: 'late' })]);
    const since = () => herd.view.status().map(({ name, since }) => `${name} ${Date.parse(since)}`);
    expect(since()).toEqual(['srv 0', 'late 60000']);
    world.clock.advance(1000);
    herd.apply([spec({ args: ['other'] }), spec({ name: 'late' })]);
    expect(since()).toEqual(['srv 61000', 'late 60000']);
  });
});

describe('a subscriber to state events', () => {
  test('gets an event for every state in order, with the state and the detail that follow', async () => {
    const { world, herd, events } = startHerd();
    await herd.view.order('start', { servers: ['srv'] }, true);
    await settled();
    world.newest.crashes();
    await settled();
    const states = events.map(({ incarnation, state, detail }) => `${incarnation} ${state} ${detail}`);
    expect(states.filter((state, index) => state !== states[index - 1])).toEqual([
      '1 created running',
      '1 connecting running',
      '1 connected running',
      '1 error running',
      '2 created running',
      '2 connecting running',
      '2 connected running',
    ]);
    expect(events.find(({ state }) => state === 'error')?.cause).toBe('srv: exited with code 1');
  });

  test('gets the states of an incarnation in the order of its chart, and none after its end', async () => {
    const { world, herd, events } = startHerd({ maxRestarts: 2 });
    await herd.view.order('start', { servers: ['srv'] }, true);
    for (let crash = 0; crash < 3; crash += 1) {
      world.newest.crashes();
      await world.passes(8_000);
    }
    expect(events.at(-1)).toMatchObject({ incarnation: 3, state: 'error', detail: 'quarantined' });
    for (const order of ['start', 'restart', 'stop', 'start'] as const) {
      await herd.view.order(order, { servers: ['srv'] }, true);
      await settled();
    }
    const PATHS = ['created connecting connected error', 'created connecting connected disconnected'];
    for (let number = 1; number <= 6; number += 1) {
      const states = events.filter(({ incarnation }) => incarnation === number).map(({ state }) => state);
      const path = states.filter((state, index) => state !== states[index - 1]).join(' ');
      expect(number < 6 ? PATHS : ['created connecting connected'], `of incarnation ${number}`).toContain(
        path,
      );
    }
  });

  test('gets the state of the replica that changed, not that of the replica in the worst state', async () => {
    const { world, herd, events } = startHerd({ replicas: 2, restart: 'never' });
    await herd.view.order('start', { servers: ['srv'] }, true);
    await settled();
    world.links[0]!.crashes();
    await settled();
    events.length = 0;
    await herd.view.order('stop', { servers: ['srv'] }, true);
    const ordered = events.filter(({ cause }) => cause === 'stop was ordered');
    expect(ordered.map(({ state, detail }) => `${state} ${detail}`)).toEqual([
      'error stopped',
      'connected running',
      'connected running',
    ]);
  });

  test('that throws disturbs neither the herd nor another subscriber', async () => {
    const { world, herd, events } = startHerd();
    const end = herd.view.events.subscribe(['state'], () => {
      throw new Error('my own fault');
    });
    await herd.view.order('start', { servers: ['srv'] }, true);
    await settled();
    expect([herd.view.status()[0]?.state, events.length > 3]).toEqual(['connected', true]);
    expect(world.logs[0]).toContain('a listener failed: Error: my own fault');
    end();
    world.logs.length = 0;
    world.newest.crashes();
    await settled();
    expect(world.logs).toEqual([]);
  });

  test('gets no event after it unsubscribed', async () => {
    const { herd } = startHerd();
    const heard: StateEvent[] = [];
    const end = herd.view.events.subscribe(['state'], (event) => heard.push(event));
    end();
    await herd.view.order('start', { servers: ['srv'] }, true);
    expect(heard).toEqual([]);
  });
});
