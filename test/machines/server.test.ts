import { describe, expect, test } from 'vitest';
import { createActor, fromCallback } from 'xstate';
import { type ServerReport, serverMachine } from '../../src/machines/index.js';
import { obedient, reports, SimulatedWorld, silent, stateName, stubborn } from '../../src/testing/index.js';
import { settings, startServer, times } from '../model/setting.js';

function simulateServer(behaviour = silent, over: Partial<typeof times> = {}) {
  const world = new SimulatedWorld({ script: () => behaviour });
  const server = startServer(world, over);
  return {
    world,
    server,
    state: () => stateName(server.getSnapshot().value),
    ending: () => server.getSnapshot().output,
    orders: () => world.links[0]?.orders,
    connect: () => server.send({ type: 'connect' }),
    serve: () => {
      server.send({ type: 'connect' });
      world.say(reports.opened());
      world.say(reports.discovered());
    },
    stop: () => server.send({ type: 'stop' }),
  };
}

describe('before the handshake', () => {
  test('I5: an incarnation that is stopped before it was connected never had a process', () => {
    const { world, stop, ending, orders } = simulateServer();
    stop();
    expect(ending()).toEqual({ kind: 'disconnected', reason: 'stopped', killed: false });
    expect(orders()).toEqual([]);
    expect(world.processes).toEqual([]);
  });

  test('I5: simulated P-12: no handshake is a failure at start_timeout, and ends the incarnation with its process', () => {
    const { world, connect, state, ending, orders } = simulateServer();
    connect();
    world.clock.advance(times.startTimeoutMs - 1);
    expect(state()).toBe('connecting.opening');
    world.clock.advance(1);
    expect(state()).toBe('connecting.aborting.asking');
    expect(orders()).toEqual(['open', 'close']);
    world.say(reports.closed());
    expect(state()).toBe('error');
    expect(ending()).toEqual({
      kind: 'error',
      cause: 'timeout',
      message: 'github: no answer to initialize in 30 s',
    });
  });

  test('I5: a refused handshake ends when the process is gone, with the reason the link gave', () => {
    const { world, connect, state, ending } = simulateServer();
    connect();
    world.say(
      reports.failed({ cause: 'spawn', message: 'no such command', fix: 'install it', permanent: true }),
    );
    expect(state()).toBe('connecting.aborting.asking');
    world.say(reports.closed(true));
    expect(ending()).toEqual({
      kind: 'error',
      cause: 'spawn',
      message: 'no such command',
      fix: 'install it',
      permanent: true,
    });
  });

  test('a process that ends before its handshake has failed, even with code 0', () => {
    for (const code of [0, 7]) {
      const { world, connect, ending } = simulateServer();
      connect();
      world.say(reports.exited(code));
      expect(ending()).toMatchObject({ kind: 'error', cause: 'exit', code, signal: null });
    }
  });

  test('a handshake that comes after it was given up opens nothing (I4)', () => {
    const { world, connect, stop, state } = simulateServer();
    connect();
    stop();
    world.say(reports.opened());
    expect(state()).toBe('connecting.aborting.asking');
    expect(world.gate).toBeUndefined();
  });
});

describe('connected', () => {
  test('I4: the gate opens with the handshake, before the lists are read', () => {
    const { world, connect, state, orders } = simulateServer();
    connect();
    expect(world.gate).toBeUndefined();
    world.say(reports.opened());
    expect(state()).toBe('connected.discovering');
    expect(world.gate).toBe(1);
    expect(orders()).toEqual(['open', 'discover']);
  });

  test('the keeper gets one event when the handshake is done', () => {
    const world = new SimulatedWorld({ script: () => silent });
    const told: ServerReport[] = [];
    const keeper = createActor(
      fromCallback<ServerReport>(({ receive }) => receive((report) => told.push(report))),
    ).start();
    const input = { ...settings(world), incarnation: 4, keeper };
    const server = createActor(world.server, { clock: world.clock, input }).start();
    server.send({ type: 'connect' });
    expect(told).toEqual([]);
    world.say(reports.opened());
    world.say(reports.listChanged());
    world.say(reports.discovered());
    expect(told).toEqual([{ type: 'server.connected', incarnation: 4 }]);
  });

  test('a changed list is read again; a change while reading makes it read once more', () => {
    const { world, serve, state, orders } = simulateServer();
    serve();
    world.say(reports.listChanged());
    world.say(reports.listChanged());
    expect(state()).toBe('connected.discovering');
    expect(orders()).toEqual(['open', 'discover', 'discover', 'discover']);
    expect(world.gate).toBe(1);
  });

  test('a reading that never ends does not keep the server from serving, nor its idleness from being seen', () => {
    const { world, connect, state } = simulateServer();
    connect();
    world.say(reports.opened());
    world.clock.advance(times.discoverTimeoutMs - 1);
    expect(state()).toBe('connected.discovering');
    world.clock.advance(1);
    expect(state()).toBe('connected.serving');
  });

  test('FR-023: a crash seals the gate and ends in error with code, signal and message', () => {
    const { world, serve, state, ending } = simulateServer();
    serve();
    world.say(reports.exited(null, 'SIGSEGV'));
    expect(world.gate).toBeUndefined();
    expect(state()).toBe('error');
    expect(ending()).toEqual({
      kind: 'error',
      cause: 'exit',
      code: null,
      signal: 'SIGSEGV',
      message: 'the process ended with SIGSEGV',
    });
  });

  test('the next step that a report names is kept in the ending', () => {
    const { world, serve, ending } = simulateServer();
    serve();
    world.say({ type: 'link.exited', code: 1, signal: null, message: 'gone', fix: 'set TOKEN' });
    expect(ending()).toMatchObject({ fix: 'set TOKEN' });
  });

  test('a process that exits with code 0 without an order has ended, not failed', () => {
    const { world, serve, state, ending } = simulateServer();
    serve();
    world.say(reports.exited(0));
    expect(state()).toBe('disconnected');
    expect(ending()).toEqual({ kind: 'disconnected', reason: 'ended', killed: false });
  });

  test('a hung server is killed, not asked', () => {
    const { world, serve, state, ending, orders } = simulateServer();
    serve();
    world.say(reports.hung());
    expect(world.gate).toBeUndefined();
    expect(state()).toBe('connected.closing.killing');
    expect(orders()?.slice(2)).toEqual(['kill']);
    world.say(reports.closed(true));
    expect(ending()).toEqual({ kind: 'error', cause: 'hung', message: 'no answer to ping' });
  });

  test('a link that closes without an order ends the incarnation: no process is claimed', () => {
    for (const report of [reports.closed(), reports.closeFailed()]) {
      const { world, serve, ending } = simulateServer();
      serve();
      world.say(report);
      expect(world.gate).toBeUndefined();
      expect(ending()).toMatchObject({ kind: 'error', cause: 'lost' });
    }
  });
});

describe('idleness', () => {
  test('FR-024: a server without a call for idle_timeout is closed, and not a moment earlier', () => {
    const { world, serve, state, ending } = simulateServer(obedient);
    serve();
    world.clock.advance(times.idleTimeoutMs - 1);
    world.idleForMs = times.idleTimeoutMs;
    expect(state()).toBe('connected.serving');
    world.clock.advance(1);
    expect(ending()).toEqual({ kind: 'disconnected', reason: 'idle', killed: false });
  });

  test('a running call keeps its server alive', () => {
    const { world, serve, state } = simulateServer(obedient);
    serve();
    world.idleForMs = 0;
    world.clock.advance(times.idleTimeoutMs * 20);
    expect(state()).toBe('connected.serving');
  });

  test('the timer waits only for the remaining idle time', () => {
    const { world, serve, state } = simulateServer(obedient);
    serve();
    world.idleForMs = times.idleTimeoutMs - 1_000;
    world.clock.advance(times.idleTimeoutMs);
    expect(state()).toBe('connected.serving');
    world.idleForMs = times.idleTimeoutMs;
    world.clock.advance(1_000);
    expect(state()).toBe('disconnected');
  });

  test('the shortest idle_timeout there is, is one', () => {
    const { world, serve, state } = simulateServer(obedient, { idleTimeoutMs: 1 });
    serve();
    world.idleForMs = 1;
    world.clock.advance(1);
    expect(state()).toBe('disconnected');
  });

  test('idle_timeout 0 means never, also when the longest timer there is has run out', () => {
    const { world, serve, state } = simulateServer(obedient, { idleTimeoutMs: 0 });
    serve();
    world.idleForMs = Number.MAX_SAFE_INTEGER;
    world.clock.advance(2 ** 31);
    expect(state()).toBe('connected.serving');
    expect(world.clock.pending).toBe(1);
  });
});

describe('on the way out', () => {
  test('I7: stop asks the process to exit, and kills it after close_timeout', () => {
    const { world, serve, stop, state, ending, orders } = simulateServer(stubborn);
    serve();
    stop();
    expect(world.gate).toBeUndefined();
    world.clock.advance(times.closeTimeoutMs - 1);
    expect(state()).toBe('connected.closing.asking');
    world.clock.advance(1);
    expect(orders()?.slice(2)).toEqual(['close', 'kill']);
    expect(ending()).toEqual({ kind: 'disconnected', reason: 'stopped', killed: true });
  });

  test('I7: a second stop does not begin the ladder anew, on either way out', () => {
    for (const isConnected of [true, false]) {
      const { world, connect, serve, stop, state, orders } = simulateServer(stubborn);
      if (isConnected) serve();
      else connect();
      stop();
      world.clock.advance(times.closeTimeoutMs - 1);
      stop();
      world.clock.advance(1);
      expect(state()).toBe('disconnected');
      expect(orders()?.slice(-2)).toEqual(['close', 'kill']);
    }
  });

  test('I5: a process that survives kill is not reported as gone', () => {
    const { world, serve, stop, state } = simulateServer(silent);
    serve();
    stop();
    world.clock.advance(times.closeTimeoutMs * 100);
    expect(state()).toBe('connected.closing.killing');
    expect(world.clock.pending).toBe(0);
    world.say(reports.exited(null, 'SIGKILL'));
    expect(state()).toBe('disconnected');
  });

  test('a close that fails ends in error', () => {
    const { world, serve, stop, ending } = simulateServer();
    serve();
    stop();
    world.say(reports.closeFailed());
    expect(ending()).toEqual({ kind: 'error', cause: 'close', message: 'the session could not be ended' });
  });

  test('the first cause stands, for any later event', () => {
    const { world, serve, stop, ending } = simulateServer();
    serve();
    world.say(reports.failed({ cause: 'memory', message: 'over its budget' }));
    stop();
    world.say(reports.hung());
    world.say(reports.failed({ cause: 'lost', message: 'gone' }));
    world.say(reports.closeFailed());
    expect(ending()).toEqual({ kind: 'error', cause: 'memory', message: 'over its budget' });
  });

  test('an ordered stop stands, for any later failure', () => {
    const { world, connect, stop, ending } = simulateServer();
    connect();
    stop();
    world.say(reports.failed());
    world.clock.advance(times.startTimeoutMs);
    world.say(reports.exited(7));
    expect(ending()).toEqual({ kind: 'disconnected', reason: 'stopped', killed: false });
  });
});

describe('bugs of toolherd', () => {
  test('I5: a link that throws is an ending with cause bug, and its process is reaped', () => {
    const { world, server, serve, state, ending } = simulateServer();
    serve();
    world.breakLink();
    expect(state()).toBe('error');
    expect(ending()).toEqual({
      kind: 'error',
      cause: 'bug',
      message: 'github: its link failed: the link broke',
    });
    world.check(server.getSnapshot());
    expect(world.gate).toBeUndefined();
  });

  test('a machine without a link fails instead of waiting for ever', () => {
    const world = new SimulatedWorld();
    const server = createActor(serverMachine, { input: { ...settings(world), incarnation: 1 } }).start();
    expect(server.getSnapshot().output).toMatchObject({
      cause: 'bug',
      message: expect.stringContaining('no link'),
    });
  });
});
