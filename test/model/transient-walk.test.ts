import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { reports, SimulatedPool, SimulatedWorld, silent } from '../../src/testing/index.js';
import { settings } from './setting.js';
import { endless } from './transient-harness.js';
import { type TransientLimits, TransientSpec } from './transient-spec.js';

interface Real {
  world: SimulatedWorld;
  pool: SimulatedPool;
  /** How often each state was reached, over all runs: a test that never gets there proves nothing. */
  reached: Map<string, number>;
}

type Step = (spec: TransientSpec, real: Real) => void;

const order =
  (type: 'start' | 'stop' | 'restart' | 'reset'): Step =>
  (spec, { pool }) => {
    spec[type]();
    pool.actor.send({ type });
  };

const pass =
  (ms: number): Step =>
  (spec, { world }) => {
    spec.pass(ms);
    world.clock.advance(ms);
  };

const isGoing = (spec: TransientSpec, number: number) =>
  spec.lives.some((life) => life.number === number && life.isGoing);

/** What can happen to one process. */
const toProcess = {
  settle: (spec, { pool }, number) => {
    spec.settle(number);
    pool.settle(number);
  },
  ready: (spec, { pool }, number) => {
    if (isGoing(spec, number)) return;
    spec.ready(number);
    for (const report of [reports.opened(), reports.listChanged(), reports.discovered()])
      pool.say(number, report);
  },
  dies: (spec, { pool }, number) => {
    if (spec.free.some((life) => life.number === number)) spec.dies(number);
    else return;
    pool.dies(number);
  },
  crash: (spec, { pool }, number) => {
    if (isGoing(spec, number)) return;
    spec.dies(number);
    spec.settle(number);
    spec.ends(number, 'failure');
    pool.say(number, reports.exited(1));
  },
  hopeless: (spec, { pool }, number) => {
    if (!spec.free.some((life) => life.number === number)) return;
    spec.ends(number, 'hopeless');
    pool.say(number, reports.failed({ permanent: true }));
    pool.say(number, reports.closed());
  },
  closed: (spec, { pool }, number) => {
    if (!isGoing(spec, number)) return;
    spec.ends(number, 'as told');
    pool.say(number, reports.closed());
  },
  closeFailed: (spec, { pool }, number) => {
    if (!isGoing(spec, number)) return;
    spec.ends(number, 'bad close');
    pool.say(number, reports.closeFailed());
  },
} satisfies Record<string, (spec: TransientSpec, real: Real, number: number) => void>;

/** `nth` chooses among the processes there are. */
const on =
  (what: keyof typeof toProcess, nth: number): Step =>
  (spec, real) => {
    const life = spec.lives[nth % Math.max(1, spec.lives.length)];
    if (life !== undefined) toProcess[what](spec, real, life.number);
  };

const call: Step = (spec, { pool }) => {
  spec.call();
  pool.call();
};
const discover: Step = (spec, { pool }) => {
  spec.discover();
  pool.actor.send({ type: 'discover', purpose: 'use' });
};
const untilRetry: Step = (spec, real) => pass((spec.retryAt ?? spec.now) - spec.now)(spec, real);
const everyFree =
  (what: keyof typeof toProcess): Step =>
  (spec, real) => {
    for (const { number } of [...spec.free]) toProcess[what](spec, real, number);
  };
const everyGoing: Step = (spec, real) => {
  for (const { number, isGoing } of [...spec.lives]) if (isGoing) toProcess.closed(spec, real, number);
};

/** Macros, because single steps hardly ever line up to a long row of failures or calls. */
const macros: Record<string, Step[]> = {
  failLoop: Array.from({ length: 4 }, () => [everyFree('crash'), untilRetry]).flat(),
  hopelessSpares: [everyFree('hopeless')],
  round: [call, everyFree('ready'), on('settle', 0), everyGoing, pass(50)],
  crowd: [call, call, call, call, everyFree('ready')],
};

class Command implements fc.Command<TransientSpec, Real> {
  readonly #name: string;
  readonly #steps: readonly Step[];
  constructor(name: string, steps: readonly Step[]) {
    this.#name = name;
    this.#steps = steps;
  }
  check(): boolean {
    return true;
  }
  run(spec: TransientSpec, real: Real): void {
    for (const step of this.#steps) {
      step(spec, real);
      compare(spec, real);
    }
  }
  toString(): string {
    return this.#name;
  }
}

function compare(spec: TransientSpec, { world, pool, reached }: Real): void {
  pool.check();
  const { context } = pool.actor.getSnapshot();
  const seen = {
    isOff: pool.state === 'stopped',
    phases: [...context.processes].map(([number, phase]) => `${number} ${phase}`),
    waiting: pool.waiting,
    routes: [...pool.routes],
    refused: pool.refused,
    begun: pool.launched,
    retryAt: context.nextRetryAt,
    isRefilling: pool.state === 'open.refilling',
    alive: world.alive.length,
  };
  const owed = {
    isOff: spec.isOff,
    phases: spec.lives.map(({ number, isGoing, hadCall }) =>
      isGoing ? `${number} leaving` : `${number} ${hadCall ? 'serving' : 'free'}`,
    ),
    waiting: spec.waiting,
    routes: [...spec.routes],
    refused: spec.refused,
    begun: spec.begun,
    retryAt: spec.retryAt,
    isRefilling: spec.refillAt !== undefined,
    alive: spec.lives.length,
  };
  expect(seen).toEqual(owed);
  reached.set(pool.state, (reached.get(pool.state) ?? 0) + 1);
}

const orders = fc
  .constantFrom('start' as const, 'start' as const, 'stop' as const, 'restart' as const, 'reset' as const)
  .map((type) => new Command(type, [order(type)]));
const calls = fc.constantFrom(new Command('call', [call]), new Command('discover', [discover]));
const processes = fc
  .tuple(fc.constantFrom(...(Object.keys(toProcess) as (keyof typeof toProcess)[])), fc.nat({ max: 6 }))
  .map(([what, nth]) => new Command(`${what} ${nth}`, [on(what, nth)]));
const time = fc.constantFrom(1, 49, 50, 400, 1_000, 7_000).map((ms) => new Command(`pass ${ms}`, [pass(ms)]));
const macro = fc
  .constantFrom(...Object.keys(macros))
  .map((name) => new Command(name, [order('start'), ...(macros[name] ?? [])]));

const limits: fc.Arbitrary<TransientLimits & { backoff: { jitter: number } }> = fc.record({
  spares: fc.integer({ min: 0, max: 3 }),
  maxInFlight: fc.integer({ min: 1, max: 4 }),
  backoff: fc.record({
    minMs: fc.constantFrom(100, 750),
    maxMs: fc.constantFrom(1_000, 3_000),
    factor: fc.constantFrom(1, 1.5, 2),
    jitter: fc.constant(0.2),
  }),
});

describe('layer 3: for any sequence of events a transient server follows its specification', () => {
  test('I2 I5 I6 I9 P9 P10: random calls, orders, failures and times against an independent specification', () => {
    const reached: Real['reached'] = new Map();
    const world = new SimulatedWorld({ script: () => silent, replicas: 1000 });
    fc.assert(
      fc.property(
        limits,
        fc.commands([orders, calls, calls, processes, processes, processes, time, macro], {
          maxCommands: 40,
          size: 'max',
        }),
        (given, commands) => {
          fc.modelRun(() => {
            world.reset();
            const server = settings(world, { ...endless, idleTimeoutMs: 0 });
            return {
              model: new TransientSpec(given),
              real: { world, pool: new SimulatedPool(world, { ...given, server }), reached },
            };
          }, commands);
        },
      ),
      { seed: 20261118, numRuns: 200 },
    );
    expect([...reached.keys()].sort(), 'every state was reached').toEqual([
      'open.quarantined',
      'open.refilling',
      'open.stocked',
      'open.waiting',
      'stopped',
    ]);
    for (const [state, count] of reached) expect(count, state).toBeGreaterThan(100);
  });
});
