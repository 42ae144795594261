/** What can be done to a herd of real processes, and what it owes: once for the herd, once for a few counters. */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { StdioSpec } from '../../src/config/fields/spec.js';
import type { StateEvent, ToolResult } from '../../src/fleet/fleet.js';
import { systemClock } from '../../src/shared/clock.js';
import { Herd } from '../../src/supervisor/herd/herd.js';
import { RealWorld } from './real-world.js';

export const NAMES = ['a', 'b'] as const;
export type Name = (typeof NAMES)[number];
const MOST_RESTARTS = 2;

/** What there is to know of a server when nothing moves. */
interface Expected {
  state: 'idle' | 'up' | 'quarantined' | 'stopped';
  incarnation: number;
  restarts: number;
  /** Restarts since the last pardon. */
  recent: number;
}

export class RealModel {
  readonly servers = new Map<Name, Expected>(NAMES.map((name) => [name, fresh()]));
  marks = 0;

  get(name: Name): Expected {
    return this.servers.get(name)!;
  }

  begins(name: Name): void {
    const server = this.get(name);
    if (server.state !== 'up') server.incarnation += 1;
    server.state = 'up';
  }

  crashes(name: Name): void {
    const server = this.get(name);
    if (server.recent === MOST_RESTARTS) {
      server.state = 'quarantined';
      return;
    }
    server.recent += 1;
    server.restarts += 1;
    server.incarnation += 1;
  }
}

function fresh(): Expected {
  return { state: 'idle', incarnation: 0, restarts: 0, recent: 0 };
}

export class RealHerd {
  readonly world = new RealWorld();
  readonly reached: Map<string, number>;
  readonly herd: Herd;
  readonly #generations = new Map<Name, number>();

  constructor(reached: Map<string, number>) {
    this.reached = reached;
    this.herd = new Herd({
      clock: systemClock,
      random: () => 0.5,
      open: this.world.open,
      maxStarting: 4,
      listWaitMs: () => 2000,
      log: () => undefined,
      redact: (value) => value,
      redactFor: (_, value) => value,
    });
    this.apply();
  }

  apply(): void {
    this.herd.apply(NAMES.map((name) => this.#spec(name)));
  }

  change(name: Name): void {
    this.#generations.set(name, (this.#generations.get(name) ?? 0) + 1);
    this.apply();
  }

  call(name: Name, tool: string, mark: string): Promise<ToolResult> {
    return this.herd.view.calls.call({ server: name, tool, arguments: { mark } });
  }

  pid(name: Name): number {
    return this.herd.view.status([name])[0]!.pids[0]!;
  }

  /** Resolves with the next event that is like this one. */
  next(isLike: (event: StateEvent) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const end = this.herd.view.events.subscribe(['state'], (event) => {
        if (!isLike(event)) return;
        end();
        resolve();
      });
    });
  }

  reach(what: string): void {
    this.reached.set(what, (this.reached.get(what) ?? 0) + 1);
  }

  #spec(name: Name): StdioSpec {
    return this.world.spec('kind', {
      name,
      env: { GENERATION: String(this.#generations.get(name) ?? 0) },
      maxRestarts: MOST_RESTARTS,
      restartWindowMs: 10 ** 9,
      healthyAfterMs: 10 ** 9,
      backoff: { minMs: 20, maxMs: 20, factor: 1, jitter: 0 },
    });
  }
}

type Act = (model: RealModel, real: RealHerd, name: Name) => Promise<void>;

const order =
  (type: 'start' | 'stop' | 'restart' | 'reset', expected: (model: RealModel, name: Name) => void): Act =>
  async (model, real, name) => {
    expected(model, name);
    await real.herd.view.order(type, { servers: [name] }, true);
  };

/** Kills it and waits for what follows: the next incarnation, or the end of all tries. */
async function kill(model: RealModel, real: RealHerd, name: Name): Promise<void> {
  model.crashes(name);
  const { state, incarnation } = model.get(name);
  const follows = real.next(
    (event) =>
      event.server === name &&
      (state === 'up'
        ? event.state === 'connected' && event.incarnation === incarnation
        : event.detail === 'quarantined'),
  );
  process.kill(real.pid(name), 'SIGKILL');
  await follows;
}

function change(model: RealModel, real: RealHerd, name: Name): void {
  model.servers.set(name, fresh());
  model.begins(name);
  real.change(name);
}

const acts = {
  start: order('start', (model, name) => model.begins(name)),
  stop: order('stop', (model, name) => {
    model.get(name).state = 'stopped';
  }),
  restart: order('restart', (model, name) => {
    model.get(name).state = 'up';
    model.get(name).incarnation += 1;
  }),
  reset: order('reset', (model, name) => {
    model.get(name).recent = 0;
    if (model.get(name).state === 'quarantined') model.begins(name);
  }),
  /** I10: the process that answers is the one that noted it, once. */
  call: async (model, real, name) => {
    const mark = `m${model.marks++}`;
    const { state } = model.get(name);
    const { success, error, content, metadata } = await real.call(name, 'pid', mark);
    if (state === 'stopped' || state === 'quarantined') {
      expect([success, error?.type, error?.sent]).toEqual([false, 'ServerUnavailableError', false]);
      expect(real.world.noted.some((note) => note.mark === mark)).toBe(false);
      real.reach(`call refused: ${state}`);
      return;
    }
    model.begins(name);
    expect([error, metadata.incarnation]).toEqual([null, model.get(name).incarnation]);
    const pid = real.pid(name);
    expect(content).toEqual([{ type: 'text', text: String(pid) }]);
    expect(real.world.noted.filter((note) => note.mark === mark)).toEqual([{ pid, mark }]);
    real.reach(state === 'idle' ? 'call started a lazy server' : 'call served');
  },
  kill: async (model, real, name) => {
    if (model.get(name).state === 'up') await kill(model, real, name);
  },
  /** P4: one call is with the process when it is killed; its caller calls again at once. */
  killInMidCall: async (model, real, name) => {
    if (model.get(name).state !== 'up') return;
    const running = real.call(name, 'wait', `m${model.marks++}`);
    // the process takes its input in order: when this is answered, that one was taken
    await acts.call(model, real, name);
    const mark = `m${model.marks++}`;
    const again = running.then((result) => ({ result, next: real.call(name, 'pid', mark) }));
    await kill(model, real, name);
    const { result, next } = await again;
    expect(result.error).toMatchObject({ type: 'ServerCrashedError', sent: true });
    const { success, error, metadata } = await next;
    const { state, incarnation } = model.get(name);
    if (state === 'up') {
      expect([success, metadata.incarnation]).toEqual([true, incarnation]);
      real.reach('waiting call served by the next incarnation');
    } else {
      expect(error).toMatchObject({ type: 'ServerUnavailableError', sent: false });
      real.reach('waiting call refused in quarantine');
    }
  },
  /** Calls that wait for a lazy start when the stop comes. */
  stopWhileItStarts: async (model, real, name) => {
    if (model.get(name).state !== 'idle') return;
    const calls = [0, 1].map(() => real.call(name, 'pid', `m${model.marks++}`));
    model.begins(name);
    model.get(name).state = 'stopped';
    await real.herd.view.order('stop', { servers: [name] }, true);
    for (const { error } of await Promise.all(calls))
      expect(error).toMatchObject({ type: 'ServerUnavailableError', sent: false });
    real.reach('stopped while it started');
  },
  /** The new one is asked what it offers when the old one is gone. */
  change: async (model, real, name) => {
    const up = real.next(({ server, state }) => server === name && state === 'connected');
    change(model, real, name);
    await up;
  },
  /** The new one serves when the old one is gone. */
  changeAndCall: async (model, real, name) => {
    change(model, real, name);
    await acts.call(model, real, name);
    real.reach('call waited for a changed config');
  },
  crashLoop: async (model, real, name) => {
    await acts.start(model, real, name);
    while (model.get(name).state === 'up') await kill(model, real, name);
  },
  crashLoopInMidCall: async (model, real, name) => {
    await acts.start(model, real, name);
    while (model.get(name).state === 'up') await acts.killInMidCall(model, real, name);
  },
} satisfies Record<string, Act>;

class Command implements fc.AsyncCommand<RealModel, RealHerd, true> {
  readonly #act: keyof typeof acts;
  readonly #name: Name;
  constructor(act: keyof typeof acts, name: Name) {
    this.#act = act;
    this.#name = name;
  }
  async check(): Promise<boolean> {
    return true;
  }
  async run(model: RealModel, real: RealHerd): Promise<void> {
    await acts[this.#act](model, real, this.#name);
    compare(model, real);
  }
  toString(): string {
    return `${this.#name}: ${this.#act}`;
  }
}

const command = (names: readonly (keyof typeof acts)[]) =>
  fc.tuple(fc.constantFrom(...names), fc.constantFrom(...NAMES)).map(([act, name]) => new Command(act, name));

export const allCommands = [
  command(Object.keys(acts) as (keyof typeof acts)[]),
  command(['call', 'killInMidCall', 'kill', 'start']),
];

const shown = {
  idle: { detail: 'idle' },
  up: { detail: 'running', state: 'connected' },
  quarantined: { detail: 'quarantined', state: 'error' },
  stopped: { detail: 'stopped' },
};

function compare(model: RealModel, real: RealHerd): void {
  real.world.check();
  for (const name of NAMES) {
    const { state, incarnation, restarts } = model.get(name);
    const [status] = real.herd.view.status([name]);
    expect(status, `${name} is ${state}`).toMatchObject({ ...shown[state], incarnation, restarts });
    expect(status?.pids.length, `${name} is ${state}`).toBe(state === 'up' ? 1 : 0);
    real.reach(state);
  }
}
