/** What can be done to a herd, to the real one and to the specification alike. */
import fc from 'fast-check';
import type { StdioSpec } from '../../src/config/fields/spec.js';
import type { ToolResult } from '../../src/fleet/fleet.js';
import type { RestartPolicy } from '../../src/machines/restart/restart-policy.js';
import type { Herd } from '../../src/supervisor/herd/herd.js';
import { type FakeLink, failure } from '../supervisor/fake-link.js';
import { settled, spec as specWith, World } from '../supervisor/world.js';
import { ServerSpec, type SpecCall } from './supervisor-spec.js';

export const LIMITS = { startMs: 62_000, closeMs: 9_000 };
export const NAMES = ['a', 'b'] as const;
export type Name = (typeof NAMES)[number];

/** The herd as it should be. */
export class Model {
  now = 0;
  marks = 0;
  readonly policy: RestartPolicy;
  readonly servers = new Map<Name, ServerSpec>();
  /** Of older configs; some are still on their way out. */
  readonly retired: ServerSpec[] = [];

  constructor(policy: RestartPolicy) {
    this.policy = policy;
    for (const name of NAMES) this.replace(name);
  }

  get(name: Name): ServerSpec {
    return this.servers.get(name)!;
  }

  get all(): ServerSpec[] {
    return [...this.retired, ...this.servers.values()];
  }

  replace(name: Name): void {
    const old = this.servers.get(name);
    if (old) this.retired.push(old);
    old?.retire();
    const next = new ServerSpec(this.policy, LIMITS, () => this.now, old);
    if (old) next.discover();
    this.servers.set(name, next);
  }

  proceed(): void {
    for (const server of this.all) server.proceed();
  }

  /** The next moment, up to `end`, at which a timer fires. */
  nextDue(end: number): number {
    return Math.min(end, ...this.all.flatMap(({ dueAt }) => (dueAt === undefined ? [] : [dueAt])));
  }

  passTo(moment: number): void {
    this.now = moment;
    for (const server of this.all) if (server.dueAt !== undefined && server.dueAt <= moment) server.falls();
  }
}

interface Pending {
  result: ToolResult | undefined;
  times: number;
  abort: AbortController;
}

/** The herd as it is, with fake links that do nothing by themselves but die when they are killed. */
export class Real {
  readonly world = new World();
  readonly herd: Herd;
  readonly calls = new Map<string, Pending>();
  readonly reached: Map<string, number>;
  #generation = new Map<Name, number>();
  readonly #policy: RestartPolicy;

  constructor(policy: RestartPolicy, reached: Map<string, number>) {
    this.#policy = policy;
    this.reached = reached;
    this.world.behaviour = () => ({ goes: 'killed', isInvisible: true });
    const open: World['open'] = (spec, incarnation, on) => {
      const beside = this.world.alive.filter((link) => link.spec.name === spec.name);
      if (beside.length > 0) throw new Error(`I1: a process of ${spec.name} was opened beside another`);
      return this.world.open(spec, incarnation, on);
    };
    this.herd = this.world.herd({ open });
    this.apply();
  }

  apply(names: readonly Name[] = NAMES): void {
    this.herd.apply(names.map((name) => this.#spec(name)));
  }

  change(name: Name): void {
    this.#generation.set(name, (this.#generation.get(name) ?? 0) + 1);
    this.apply();
  }

  link(name: Name): FakeLink | undefined {
    const link = this.world.links.findLast(({ spec, life }) => spec.name === name && life !== 'gone');
    return link?.spec.args.at(-1) === this.#spec(name).args.at(-1) ? link : undefined;
  }

  call(name: Name, mark: string): void {
    const pending: Pending = { result: undefined, times: 0, abort: new AbortController() };
    this.calls.set(mark, pending);
    const { signal } = pending.abort;
    void this.herd.view.calls
      .call({ server: name, tool: 'x', arguments: { mark } }, { signal })
      .then((result) => {
        pending.result = result;
        pending.times += 1;
      });
  }

  written(): string[] {
    return this.world.links.flatMap(({ calls }) =>
      calls.map(({ params }) => (params.arguments as { mark: string }).mark),
    );
  }

  reach(what: string): void {
    this.reached.set(what, (this.reached.get(what) ?? 0) + 1);
  }

  #spec(name: Name): StdioSpec {
    const args = [`generation ${this.#generation.get(name) ?? 0}`];
    return specWith({
      name,
      ...this.#policy,
      loadTools: false,
      args,
      requestTimeoutMs: 10 ** 9,
      maxTimeoutMs: 10 ** 9,
    });
  }
}

type Step = (model: Model, real: Real, name: Name) => void | Promise<void>;

const order =
  (type: 'start' | 'stop' | 'restart' | 'reset'): Step =>
  (model, real, name) => {
    if (type === 'stop' || type === 'restart') model.get(name).endDrains();
    model.get(name)[type]();
    void real.herd.view.order(type, { servers: [name] });
  };

/** Something happens to the process, if there is one. */
const happens =
  (inModel: (server: ServerSpec) => void, inReality: (link: FakeLink) => void): Step =>
  (model, real, name) => {
    if (model.get(name).life?.begunAt === undefined) return;
    inModel(model.get(name));
    const link = real.link(name);
    if (link === undefined) throw new Error(`${name}: no process where one should be`);
    inReality(link);
  };

const pass =
  (ms: number): Step =>
  async (model, real) => {
    const end = model.now + ms;
    while (model.now < end) {
      const moment = model.nextDue(end);
      real.world.clock.advance(moment - real.world.clock.now());
      await settled();
      model.passTo(moment);
      model.proceed();
    }
  };

const steps = {
  start: order('start'),
  stop: order('stop'),
  restart: order('restart'),
  reset: order('reset'),
  call: (model, real, name) => {
    const mark = `m${model.marks++}`;
    model.get(name).call(mark);
    real.call(name, mark);
  },
  cancel: (model, real, name) => {
    const call = model.get(name).calls.find(({ told }) => told === undefined);
    if (call === undefined) return;
    model.get(name).cancel(call);
    real.calls.get(call.mark)?.abort.abort();
  },
  handshake: happens(
    (server) => server.handshake(),
    (link) => link.session.state === 'open' && link.opens(),
  ),
  answer: happens(
    (server) => server.answer(),
    (link) => link.session.inFlight > 0 && answerOldest(link),
  ),
  crash: happens(
    (server) => server.dies('crash'),
    (link) => link.crashes(1),
  ),
  exit: happens(
    (server) => server.dies(server.life?.isLost ? 'crash' : 'clean'),
    (link) => link.crashes(0),
  ),
  lose: happens(
    (server) => server.isLost(),
    (link) => link.dies(1),
  ),
  unstarted: happens(
    (server) => server.dies(server.life?.isLost ? 'crash' : 'unstarted'),
    (link) => link.goes(failure(link.spec.name)),
  ),
  hopeless: happens(
    (server) => server.dies(server.life?.isLost ? 'crash' : 'hopeless'),
    (link) => link.goes(failure(link.spec.name, { permanent: true })),
  ),
  doubtful: happens(
    (server) => server.dies(server.life?.isLost ? 'crash' : 'doubtful'),
    (link) => link.goes(failure(link.spec.name, { looksMisconfigured: true })),
  ),
  change: (model, real, name) => {
    model.replace(name);
    real.change(name);
  },
  /** Out of the config and into it again. */
  swap: (model, real, name) => {
    model.replace(name);
    real.apply(NAMES.filter((other) => other !== name));
    real.apply();
  },
} satisfies Record<string, Step>;

function answerOldest(link: FakeLink): void {
  const [oldest] = link.session.inFlight === 0 ? [] : inFlightOf(link);
  if (oldest !== undefined)
    link.session.deliver(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: oldest, result: {} })));
}

const settledIds = new WeakMap<FakeLink, Set<number>>();

/** Ids that were written and neither answered nor cancelled. */
function inFlightOf(link: FakeLink): number[] {
  const over = settledIds.get(link) ?? new Set<number>();
  settledIds.set(link, over);
  for (const { method, params } of link.written)
    if (method === 'notifications/cancelled') over.add(Number(params.requestId));
  const ids = link.calls.map(({ id }) => id!).filter((id) => !over.has(id));
  if (ids[0] !== undefined) over.add(ids[0]);
  return ids;
}

const untilRetry: Step = (model, real, name) =>
  pass(Math.max(0, (model.get(name).retryAt ?? model.now) - model.now))(model, real, name);
const untilCallable: Step = (model, real, name) => {
  const { mood, callableAt } = model.get(name);
  return pass(['waiting', 'quarantined'].includes(mood) ? Math.max(0, callableAt - model.now) : 0)(
    model,
    real,
    name,
  );
};
const times = (count: number, ...loop: Step[]) => Array.from({ length: count }, () => loop).flat();

/** Single steps hardly ever line up to a loop: without these quarantine is never reached. */
const macros: Record<string, (count: number) => Step[]> = {
  crashLoop: (count) => [steps.start, ...times(count, steps.handshake, steps.crash, untilRetry)],
  unstartedLoop: (count) => [steps.start, ...times(count, steps.unstarted, untilRetry)],
  doubtLoop: (count) => [steps.start, ...times(count, steps.doubtful, untilRetry)],
  callInDoubt: (count) => [
    steps.start,
    ...times(count, steps.doubtful, steps.call, untilCallable, steps.call),
  ],
  lastChance: (count) => [
    steps.start,
    steps.hopeless,
    ...times(count, steps.call, untilCallable, steps.call, steps.handshake, steps.crash),
  ],
  secondLife: () => [steps.start, steps.hopeless, untilCallable, steps.call, steps.handshake, steps.answer],
  muteLoop: (count) => [steps.start, ...times(Math.min(count, 3), pass(42_000), untilRetry)],
  exitLoop: (count) => [steps.start, ...times(count, steps.handshake, steps.exit, untilRetry)],
  healthyLife: () => [steps.start, steps.handshake, pass(25_000), steps.crash],
  callAcrossCrash: () => [
    steps.start,
    steps.handshake,
    steps.call,
    steps.lose,
    steps.call,
    steps.crash,
    steps.handshake,
    steps.answer,
  ],
  callWhileItWaits: (count) => [
    steps.start,
    ...times(count, steps.handshake, steps.crash, steps.call, untilRetry),
    steps.handshake,
  ],
  stopWhileItWaits: () => [steps.start, ...times(2, steps.handshake, steps.crash), steps.call, steps.stop],
  cancelWhileItStarts: () => [
    steps.start,
    steps.call,
    steps.call,
    steps.cancel,
    steps.handshake,
    steps.cancel,
  ],
  changeWhileItWaits: () => [steps.call, steps.change, steps.call, steps.handshake],
  changes: (count) => [steps.start, steps.handshake, ...times(count, steps.call, steps.change), pass(19_000)],
};

class Command implements fc.AsyncCommand<Model, Real, true> {
  readonly #title: string;
  readonly #name: Name;
  readonly #steps: readonly Step[];
  constructor(title: string, name: Name, sequence: readonly Step[]) {
    this.#title = title;
    this.#name = name;
    this.#steps = sequence;
  }
  async check(): Promise<boolean> {
    return true;
  }
  async run(model: Model, real: Real): Promise<void> {
    for (const step of this.#steps) {
      await step(model, real, this.#name);
      model.proceed();
      await settled();
      compare(model, real);
    }
  }
  toString(): string {
    return `${this.#name}: ${this.#title}`;
  }
}

const name = fc.constantFrom(...NAMES);
const single = (names: readonly (keyof typeof steps)[]) =>
  fc.tuple(fc.constantFrom(...names), name).map(([step, who]) => new Command(step, who, [steps[step]]));
const time = fc
  .tuple(fc.constantFrom(1, 400, 1_000, 9_000, 33_000, 70_000), name)
  .map(([ms, who]) => new Command(`pass ${ms}`, who, [pass(ms)]));
const macro = fc
  .tuple(fc.constantFrom(...Object.keys(macros)), fc.integer({ min: 1, max: 6 }), name)
  .map(([title, count, who]) => new Command(`${title} ${count}`, who, macros[title]!(count)));

export const allCommands = [
  single(Object.keys(steps) as (keyof typeof steps)[]),
  single(['call', 'start', 'handshake', 'answer']),
  single(['call', 'handshake']),
  time,
  macro,
];

function compare(model: Model, real: Real): void {
  for (const who of NAMES) {
    const server = model.get(who);
    const [status] = real.herd.view.status([who]);
    const seen = {
      detail: status!.detail,
      incarnation: status!.incarnation,
      restarts: status!.restarts,
      retryAt: status!.next_retry_at === null ? undefined : Date.parse(status!.next_retry_at),
      inFlight: status!.in_flight,
      isOpen: status!.protocol_version !== null,
    };
    const owed = {
      detail: server.mood,
      incarnation: server.lives,
      restarts: server.restarts,
      retryAt: server.retryAt,
      inFlight: server.life?.isLost ? 0 : server.inFlight.length,
      isOpen: server.isOpen,
    };
    if (JSON.stringify(seen) !== JSON.stringify(owed)) {
      throw new Error(`${who}\n seen ${JSON.stringify(seen)}\n owed ${JSON.stringify(owed)}`);
    }
    if (server.isDense) throw new Error(`I3: ${who} was restarted too often`);
    real.reach(`${server.mood}${server.waitingCalls.length > 0 ? ' with calls waiting' : ''}`);
  }
  const alive = model.all.filter(({ life }) => life?.begunAt !== undefined && !life.isLost).length;
  if (alive !== real.world.alive.length)
    throw new Error(`${real.world.alive.length} processes live, ${alive} should`);
  const written = real.written();
  if (new Set(written).size < written.length) throw new Error(`I10: written twice: ${written.join()}`);
  for (const call of model.all.flatMap(({ calls }) => calls)) compareCall(call, real);
}

function compareCall(call: SpecCall, real: Real): void {
  const { result, times: settledTimes } = real.calls.get(call.mark)!;
  const told = result && (result.error === null ? 'ok' : `${result.error.type} ${result.error.sent}`);
  if (told !== call.told)
    throw new Error(`call ${call.mark} was told ${told}, and should be told ${call.told}`);
  if (settledTimes > 1) throw new Error(`I2: call ${call.mark} was told twice`);
  if (told === 'ok' && result?.metadata.incarnation !== call.life?.number)
    throw new Error('the wrong incarnation is named');
}
