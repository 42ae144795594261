/** What can be done to a keeper, to the real one and to the specification alike. */
import fc from 'fast-check';
import type { KeeperOrder } from '../../src/machines/index.js';
import { reports, type SimulatedWorld, stateName } from '../../src/testing/index.js';
import type { startKeeper } from './setting.js';
import type { Death, Spec } from './spec.js';

export interface Real {
  world: SimulatedWorld;
  keeper: ReturnType<typeof startKeeper>;
  /** How often each thing was reached, over all runs: a test that never gets there proves nothing. */
  reached: Map<string, number>;
}

type Step = (spec: Spec, real: Real) => void;

const order =
  (type: KeeperOrder['type']): Step =>
  (spec, { keeper }) => {
    spec[type]();
    keeper.send({ type });
  };

const pass =
  (ms: number): Step =>
  (spec, { world }) => {
    spec.pass(ms);
    world.clock.advance(ms);
  };

const steps = {
  start: order('start'),
  stop: order('stop'),
  restart: order('restart'),
  reset: order('reset'),
  call: (spec, { keeper }) => {
    spec.call();
    keeper.send({ type: 'call.waiting' });
  },
  grant: (spec, { world }) => {
    spec.letGo();
    world.grant();
  },
  handshake: (spec, { world }) => {
    spec.handshake();
    world.say(reports.opened());
  },
  /** The memory budget stops it, not an order. */
  evict: (spec, { keeper }) => {
    if (!spec.life) return;
    if (spec.life.letGoAt === undefined) spec.dies('wanted');
    else spec.goes('wanted');
    keeper.getSnapshot().context.incumbent?.send({ type: 'stop' });
  },
  crash: exit(1, 'failure'),
  end: exit(0, 'clean'),
  refuse: fails({}, 'failure'),
  hopeless: fails({ permanent: true }, 'hopeless'),
  doubtful: fails({ looksMisconfigured: true }, 'doubtful'),
  unauthorised: fails({ cause: 'auth' }, 'unauthorised'),
  hang: (spec, { world }) => {
    if (spec.life?.handshakeAt !== undefined) spec.goes('failure');
    world.say(reports.hung());
  },
  closed: whileGoing((spec, { world }) => {
    spec.dies('wanted');
    world.say(reports.closed());
  }),
  closeFailed: whileGoing((spec, { world }) => {
    spec.dies('bad close');
    world.say(reports.closeFailed());
  }),
  breakLink: (spec, { world }) => {
    if (!spec.life) return;
    // Whatever it was going for, a bug of ours is what it died of.
    spec.life.going = undefined;
    spec.dies('failure');
    world.breakLink();
  },
  breakServer: (spec, { world }) => {
    if (!spec.life) return;
    spec.life.going = undefined;
    spec.dies('failure');
    world.breakServer();
  },
} satisfies Record<string, Step>;

function exit(code: number, how: Death): Step {
  return (spec, { world }) => {
    if (spec.life?.letGoAt === undefined) return;
    spec.dies(spec.life.handshakeAt === undefined ? 'failure' : how);
    world.say(reports.exited(code));
  };
}

function fails(failure: Parameters<typeof reports.failed>[0], how: Death): Step {
  return (spec, { world }) => {
    if (spec.life?.letGoAt !== undefined) spec.goes(how);
    world.say(reports.failed(failure));
  };
}

function whileGoing(step: Step): Step {
  return (spec, real) => {
    if (spec.life?.going) step(spec, real);
  };
}

const connect: Step[] = [steps.grant, steps.handshake];
const untilNextTry: Step = (spec, real) => pass((spec.retryAt ?? spec.now) - spec.now)(spec, real);
const untilCallable: Step = (spec, real) =>
  pass(Math.max(0, /waiting|given up/.test(spec.mood) ? (spec.callableAt ?? spec.now) - spec.now : 0))(
    spec,
    real,
  );

/** Macros, because single steps hardly ever line up to a loop: without them quarantine is never reached. */
const macros = {
  crashLoop: (times: number) =>
    Array.from({ length: times }, () => [...connect, steps.crash, untilNextTry]).flat(),
  refusalLoop: (times: number) =>
    Array.from({ length: times }, () => [steps.grant, steps.refuse, steps.closed, untilNextTry]).flat(),
  timeoutLoop: (times: number) =>
    Array.from({ length: times }, () => [steps.grant, pass(40_000), untilNextTry]).flat(),
  healthyLife: () => [...connect, pass(25_000), steps.crash],
  goodbyeLoop: (times: number) =>
    Array.from({ length: times }, () => [...connect, steps.end, untilNextTry]).flat(),
  hopelessStart: () => [steps.grant, steps.hopeless, steps.closed],
  doubtLoop: (times: number) =>
    Array.from({ length: times }, () => [steps.grant, steps.doubtful, steps.closed, untilNextTry]).flat(),
  callInDoubt: (times: number) =>
    Array.from({ length: times }, () => [
      steps.grant,
      steps.doubtful,
      steps.closed,
      steps.call,
      untilCallable,
      steps.call,
    ]).flat(),
  lastChance: (times: number) => [
    ...macros.hopelessStart(),
    ...Array.from({ length: times }, () => [
      steps.call,
      untilCallable,
      steps.call,
      ...connect,
      steps.crash,
    ]).flat(),
  ],
  secondLife: () => [
    ...macros.hopelessStart(),
    untilCallable,
    steps.call,
    ...connect,
    pass(25_000),
    steps.crash,
  ],
  lateCall: () => [...connect, steps.evict, steps.call, steps.closed],
};

/** One command: its steps, each followed by a comparison. */
class Command implements fc.Command<Spec, Real> {
  readonly #name: string;
  readonly #steps: readonly Step[];
  constructor(name: string, sequence: readonly Step[]) {
    this.#name = name;
    this.#steps = sequence;
  }
  check(): boolean {
    return true;
  }
  run(spec: Spec, real: Real): void {
    for (const step of this.#steps) {
      step(spec, real);
      compare(spec, real);
    }
  }
  toString(): string {
    return this.#name;
  }
}

const names = Object.keys(steps) as (keyof typeof steps)[];
const single = fc.constantFrom(...names).map((name) => new Command(name, [steps[name]]));
const onward = fc
  .constantFrom<keyof typeof steps>('start', 'grant', 'handshake')
  .map((name) => new Command(name, [steps[name]]));
const time = fc
  .constantFrom(1, 50, 400, 1_000, 7_000, 20_000, 70_000)
  .map((ms) => new Command(`pass ${ms}`, [pass(ms)]));
const macro = fc
  .tuple(fc.constantFrom(...(Object.keys(macros) as (keyof typeof macros)[])), fc.integer({ min: 1, max: 7 }))
  .map(([name, times]) => new Command(`${name} ${times}`, [steps.start, ...macros[name](times)]));

export const allCommands = [single, single, onward, onward, time, macro];

const details = {
  asleep: 'idle',
  awake: 'running',
  waiting: 'waiting',
  'given up': 'quarantined',
  'locked out': 'needs_auth',
  'switched off': 'stopped',
};

function compare(spec: Spec, { world, keeper, reached }: Real): void {
  const { value, context, status } = keeper.getSnapshot();
  world.check(context.incumbent?.getSnapshot());
  const name = stateName(value);
  const opens = spec.life?.handshakeAt !== undefined && !spec.life.going;
  const seen = {
    status,
    detail: name.split('.')[0],
    lives: context.incarnation,
    letGo: world.processes.map(({ openedAt }) => openedAt),
    alive: world.alive.length,
    gate: world.gate !== undefined,
    retryAt: context.nextRetryAt,
  };
  const owed = {
    status: 'active',
    detail: details[spec.mood],
    lives: spec.lives,
    letGo: spec.log.flatMap((fact) => (fact.what === 'let go' ? [fact.at] : [])),
    alive: spec.life?.letGoAt === undefined ? 0 : 1,
    gate: opens,
    retryAt: spec.retryAt,
  };
  if (JSON.stringify(seen) !== JSON.stringify(owed)) {
    throw new Error(`in ${name}\n seen ${JSON.stringify(seen)}\n owed ${JSON.stringify(owed)}`);
  }
  const why = context.quarantineReason?.replace(/\d+/g, 'n') ?? '';
  for (const one of [name, why && `given up: ${why}`]) if (one) reached.set(one, (reached.get(one) ?? 0) + 1);
}
