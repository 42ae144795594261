/** A world for the supervisor without processes and without real time, and the laws that hold in it at every moment. */
import { createActor } from 'xstate';
import type { StdioSpec } from '../../src/config/fields/spec.js';
import type { CallSink, Outcome } from '../../src/shared/call-sink.js';
import { LIST_KEYS, type ListsOwner, type ReadingOrder } from '../../src/supervisor/catalog/lists.js';
import { Herd, type HerdOptions } from '../../src/supervisor/herd/herd.js';
import { rootMachine } from '../../src/supervisor/herd/root.js';
import type { OpenLink } from '../../src/supervisor/server/link-actor.js';
import { Permits } from '../../src/supervisor/server/permits.js';
import type { ServerDeps } from '../../src/supervisor/server/server-deps.js';
import { VirtualClock } from '../../src/testing/index.js';
import { specOf } from '../link/spec.js';
import { FakeLink, type FakeLinkBehaviour } from './fake-link.js';

/** An order to read every list. */
export const EVERY_LIST: ReadingOrder = new Map(LIST_KEYS.map((list) => [list, 0]));

/** The owner of lists for processes without a catalog: every order to read means every list. */
export function listsOwner(changes: Partial<ListsOwner> = {}): ListsOwner {
  return {
    isDue: true,
    isAwaited: false,
    toRead: () => EVERY_LIST,
    take: () => {},
    doubt: () => {},
    suspend: () => {},
    giveUp: () => {},
    ...changes,
  };
}

export const ALL_TOOLS = { allow: ['*'], deny: [] };

/** A spec whose figures differ from one another, so that none can stand in for another. */
export function spec(changes: Partial<StdioSpec> = {}): StdioSpec {
  return specOf('srv.mjs', {
    tools: ALL_TOOLS,
    startTimeoutMs: 30_000,
    requestTimeoutMs: 20_000,
    stop: { closeMs: 2_000, termMs: 5_000 },
    ping: { intervalMs: 0, timeoutMs: 0 },
    backoff: { minMs: 500, maxMs: 8_000, factor: 2, jitter: 0 },
    ...changes,
  });
}

/** Lets everything happen that needs no time. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class World {
  readonly clock = new VirtualClock();
  readonly links: FakeLink[] = [];
  readonly logs: string[] = [];
  behaviour: (spec: StdioSpec, incarnation: number) => FakeLinkBehaviour = () => ({});
  /** Makes `open` throw. */
  throws: Error | undefined;

  readonly open: OpenLink = (any, incarnation, on) => {
    if (this.throws !== undefined) throw this.throws;
    const spec = any as StdioSpec;
    const link = new FakeLink(spec, incarnation, on, this.clock, this.behaviour(spec, incarnation));
    this.links.push(link);
    return link;
  };

  get alive(): FakeLink[] {
    return this.links.filter((link) => link.isAlive);
  }

  get newest(): FakeLink {
    return this.links.at(-1)!;
  }

  /** Time passes in steps, so that what needs a moment in between has it. */
  async passes(ms: number, steps = 4): Promise<void> {
    for (let step = 0; step < steps; step += 1) {
      this.clock.advance(ms / steps);
      await settled();
    }
  }

  herd(options: Partial<HerdOptions> = {}): Herd {
    return new Herd({
      clock: this.clock,
      random: () => 0.5,
      open: this.open,
      maxStarting: 100,
      listWaitMs: () => 2000,
      log: (server, line) => this.logs.push(`${server}: ${line}`),
      redact: (value) => value,
      redactFor: (_, value) => options.redact?.(value) ?? value,
      ...options,
    });
  }

  /** What a server of a herd is given. */
  serverDeps(changes: Partial<ServerDeps> = {}) {
    const root = createActor(rootMachine, { clock: this.clock }).start();
    const deps: ServerDeps = {
      clock: this.clock,
      random: () => 0.5,
      permits: new Permits(100),
      open: this.open,
      keep: (id, _chart, logic, input) => {
        root.send({ type: 'keep', id, logic, input });
        return root.getSnapshot().children[id]!;
      },
      release: (id) => root.send({ type: 'release', id }),
      log: (line) => this.logs.push(line),
      ...changes,
    };
    return { ...deps, children: () => Object.keys(root.getSnapshot().children) };
  }
}

/** A caller, and all outcomes that it got. */
export class Caller implements CallSink {
  readonly outcomes: Outcome[] = [];
  readonly routes: number[] = [];
  readonly settle = (outcome: Outcome): void => {
    this.outcomes.push(outcome);
  };
  readonly routed = (incarnation: number): void => {
    this.routes.push(incarnation);
  };

  get isSettled(): boolean {
    return this.outcomes.length > 0;
  }

  /** The one error that it got. */
  get error() {
    const [outcome, ...more] = this.outcomes;
    if (outcome === undefined || outcome.ok || more.length > 0)
      throw new Error(JSON.stringify(this.outcomes));
    return outcome.error;
  }

  /** The one result it was given. */
  get result() {
    const [outcome, ...more] = this.outcomes;
    if (!outcome?.ok || more.length > 0) throw new Error(JSON.stringify(this.outcomes));
    return outcome.result;
  }
}

export const request = (mark = 'x', timeoutMs?: number) => ({
  method: 'tools/call',
  params: { name: 'tool', arguments: { mark } },
  ...(timeoutMs === undefined ? {} : { timeoutMs }),
});

/** An event that makes an incarnation throw, like a bug. */
export const TRAP = {
  type: 'link.hung' as const,
  get message(): string {
    throw new Error('a trap');
  },
};
