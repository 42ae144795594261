import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/shared/clock.js';
import { Herd } from '../../src/supervisor/herd/herd.js';
import { alive } from '../link/support.js';
import { allCommands, RealHerd, RealModel } from './real-commands.js';
import { RealWorld } from './real-world.js';

describe('layer 3, real processes: for any sequence of events a herd follows its specification', () => {
  test('I1 I2 I5 I6 I8 I10 P4 P9: random calls, kills, orders and configs', async () => {
    const reached = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(fc.commands(allCommands, { maxCommands: 12, size: 'max' }), async (commands) => {
        const real = new RealHerd(reached);
        await fc.asyncModelRun(() => ({ model: new RealModel(), real }), commands);
        await real.herd.shutdown(5_000, () => real.world.table.killAll());
        expect([real.world.alive, real.world.table.size]).toEqual([[], 0]);
        real.world.check();
      }),
      { seed: 20261116, numRuns: 16 },
    );
    for (const what of [
      'quarantined',
      'stopped',
      'up',
      'call served',
      'call started a lazy server',
      'call refused: stopped',
      'call refused: quarantined',
      'call waited for a changed config',
      'waiting call served by the next incarnation',
      'waiting call refused in quarantine',
      'stopped while it started',
    ]) {
      expect(reached.get(what) ?? 0, what).toBeGreaterThan(0);
    }
  }, 120_000);
});

function herdOf(world: RealWorld): Herd {
  return new Herd({
    clock: systemClock,
    random: () => 0.5,
    open: world.open,
    maxStarting: 8,
    listWaitMs: () => 2000,
    log: () => undefined,
    redact: (value) => value,
    redactFor: (_, value) => value,
  });
}

describe('a transient server with real processes', () => {
  test('I6 I9 I10: a fresh process for each call, never more of them than calls and spares, none left', async () => {
    const world = new RealWorld(100);
    const herd = herdOf(world);
    const spares = 2;
    herd.apply([world.spec('kind', { name: 't', lifecycle: 'transient', spares, maxInFlight: 4 })]);
    await herd.view.order('start', { servers: ['t'] }, true);
    expect(world.alive.length).toBe(spares);
    let unsettled = 0;
    /** Processes that are stopping take no call. */
    const check = () => {
      const taking = world.alive.filter(({ link }) => link.session.state === 'open').length;
      expect(taking).toBeLessThanOrEqual(unsettled + spares);
    };
    const end = herd.view.events.subscribe(['state'], check);
    const call = async (mark: string) => {
      unsettled += 1;
      const result = await herd.view.calls.call({ server: 't', tool: 'pid', arguments: { mark } });
      unsettled -= 1;
      check();
      return result.content[0]?.type === 'text' ? Number(result.content[0].text) : undefined;
    };
    const pids = await Promise.all(Array.from({ length: 20 }, (_, index) => call(`m${index}`)));
    expect(new Set(pids).size).toBe(20);
    expect(world.noted.map(({ pid }) => pid).sort()).toEqual([...pids].sort());
    end();
    await herd.shutdown(5_000, () => world.table.killAll());
    expect([world.alive, world.table.size]).toEqual([[], 0]);
    world.check();
  });

  test('I2: a process that is killed in mid-call fails that call alone; a spare that is killed fails none', async () => {
    const world = new RealWorld(100);
    const herd = herdOf(world);
    herd.apply([
      world.spec('kind', {
        name: 't',
        lifecycle: 'transient',
        spares: 1,
        backoff: { minMs: 10, maxMs: 10, factor: 1, jitter: 0 },
      }),
    ]);
    await herd.view.order('start', { servers: ['t'] }, true);
    const [spare] = world.alive;
    const gone = new Promise<void>((resolve) => {
      const end = herd.view.events.subscribe(['state'], ({ state, incarnation }) => {
        if (state !== 'error' || incarnation !== spare?.incarnation) return;
        end();
        resolve();
      });
    });
    process.kill(spare!.pid!, 'SIGKILL');
    await gone;
    const running = herd.view.calls.call({ server: 't', tool: 'wait', arguments: { mark: 'a' } });
    const other = await herd.view.calls.call({ server: 't', tool: 'pid', arguments: { mark: 'b' } });
    expect(other.success).toBe(true);
    const busy = world.processes.find(({ link }) => link.session.inFlight > 0)!;
    process.kill(busy.pid!, 'SIGKILL');
    expect((await running).error).toMatchObject({ type: 'ServerCrashedError', sent: true });
    await herd.shutdown(5_000, () => world.table.killAll());
    expect(world.alive).toEqual([]);
  });
});

describe('replicas with real processes', () => {
  test('I1: a server has as many processes as replicas; a killed one is restarted, the others serve', async () => {
    const world = new RealWorld(3);
    const herd = herdOf(world);
    herd.apply([world.spec('kind', { name: 'r', replicas: 3, start: 'eager' })]);
    await herd.view.order('start', { servers: ['r'] }, true);
    const before = herd.view.status()[0]!.pids;
    expect(before.length).toBe(3);
    const back = new Promise<void>((resolve) => {
      const end = herd.view.events.subscribe(['state'], ({ state, incarnation }) => {
        if (state !== 'connected' || incarnation !== 2) return;
        end();
        resolve();
      });
    });
    process.kill(before[1]!, 'SIGKILL');
    const calls = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        herd.view.calls.call({ server: 'r', tool: 'pid', arguments: { mark: `m${index}` } }),
      ),
    );
    await back;
    const lost = calls.filter(({ success }) => !success);
    for (const { error } of lost) expect(error?.type).toBe('ServerCrashedError');
    expect(calls.length - lost.length).toBeGreaterThanOrEqual(8);
    const after = herd.view.status()[0]!.pids;
    expect([after.length, after.includes(before[1]!), after.every(alive)]).toEqual([3, false, true]);
    await herd.shutdown(5_000, () => world.table.killAll());
    world.check();
    expect(world.alive).toEqual([]);
  });
});
