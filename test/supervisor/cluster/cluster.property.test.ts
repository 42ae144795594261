import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ServerSpec } from '../../../src/config/fields/spec.js';
import type { ServerState } from '../../../src/fleet/fleet.js';
import { ConfiguredServer } from '../../../src/supervisor/server/configured-server.js';
import { drains, type FakeLink, failure } from '../fake-link.js';
import { Caller, request, settled, spec, World } from '../world.js';
import { clusterSpec, nodeOf, TestPeers } from './nodes.js';

const NODES = ['b', 'c', 'd'];

type Step =
  | { do: 'call'; timeoutMs: number | undefined }
  | { do: 'cancel' | 'opens' | 'answers' | 'refuses' | 'fails' | 'dies' | 'cannot'; which: number }
  | { do: 'report'; node: string; state: ServerState; load: number }
  | { do: 'leave'; node: string }
  | { do: 'order'; order: 'start' | 'stop' | 'restart' | 'reset' }
  | { do: 'pass'; ms: number };

const which = fc.nat(20);
const node = fc.constantFrom(...NODES);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      timeoutMs: fc.constantFrom(undefined, undefined, 300, 5_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), which }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('opens' as const), which }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('answers', 'refuses'), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('fails', 'dies', 'cannot'), which }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('report' as const),
      node,
      state: fc.constantFrom<ServerState>('connected', 'connected', 'created', 'error'),
      load: fc.nat(4),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('leave' as const), node }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('order' as const),
      order: fc.constantFrom('start', 'stop', 'restart', 'reset'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(10, 400, 9_000) }),
  },
);

const part = { identity: 'id', isPlacedHere: true };
const small = { maxInFlight: 2, requestTimeoutMs: 600_000, maxTimeoutMs: 6_000_000 };
const servers: fc.Arbitrary<ServerSpec> = fc.constantFrom(
  clusterSpec(small),
  spec({ ...small, cluster: { ...part, balanced: false, isPlacedHere: false } }),
  spec({ ...small, cluster: { ...part, balanced: false } }),
  spec({ ...small, replicas: 2, cluster: { ...part, balanced: true } }),
  spec({ ...small, lifecycle: 'transient', cluster: { ...part, balanced: true } }),
);

/** A server under test, and what became of each call: its caller's account, and that of every link. */
class Run {
  readonly world = new World();
  readonly peers = new TestPeers();
  readonly server: ConfiguredServer;
  readonly calls: { caller: Caller; cancel: () => void }[] = [];
  /** Marks of calls that a link gave back unsent, for each link. */
  readonly refused = new Map<FakeLink, string[]>();

  constructor(of: ServerSpec) {
    const deps = this.world.serverDeps({ peersOf: () => this.peers });
    this.server = new ConfiguredServer(of, 1, deps, Promise.resolve());
  }

  async take(step: Step): Promise<void> {
    this.#act(step);
    await settled();
    this.check();
  }

  #act(step: Step): void {
    const { world, server, peers } = this;
    if (step.do === 'call') this.#call(step.timeoutMs);
    else if (step.do === 'cancel') this.calls[step.which % Math.max(1, this.calls.length)]?.cancel();
    else if (step.do === 'report') peers.reports(step.node, step.state, step.load);
    else if (step.do === 'leave') peers.leaves(step.node);
    else if (step.do === 'order') server[step.order]();
    else if (step.do === 'pass') world.clock.advance(step.ms);
    else this.#happens(step.do, step.which);
  }

  #call(timeoutMs: number | undefined): void {
    const caller = new Caller();
    const call = { caller, cancel: () => {} };
    this.calls.push(call);
    const handle = this.server.send(request(String(this.calls.length - 1), timeoutMs), caller);
    call.cancel = () => handle?.cancel();
  }

  /** Something happens on a link. */
  #happens(what: 'opens' | 'answers' | 'refuses' | 'fails' | 'dies' | 'cannot', which: number): void {
    const fits = (link: FakeLink) => {
      if (what === 'opens' || what === 'cannot') return link.life === 'starting';
      return what === 'dies' ? link.life === 'open' : isBusy(link);
    };
    const links = this.world.links.filter(fits);
    const link = links[which % Math.max(1, links.length)];
    if (link === undefined) return;
    if (what === 'opens') link.opens();
    else if (what === 'cannot') link.goes(failure('srv'));
    else if (what === 'dies') link.crashes();
    else if (what === 'answers') link.answers();
    else if (what === 'fails') link.refuses(drains('srv', true));
    else if (nodeOf(link.spec) !== undefined) {
      const mark = markOf(link.oldest!);
      // a refusal of a call that was cancelled comes too late
      if (!this.calls[Number(mark)]!.caller.isSettled)
        this.refused.set(link, [...(this.refused.get(link) ?? []), mark]);
      link.refuses();
    }
  }

  /** Links that got this call, and did not give it back. */
  kept(mark: string): FakeLink[] {
    return this.world.links.filter((link) => {
      const got = link.calls.filter((call) => markOf(call) === mark).length;
      const back = this.refused.get(link)?.filter((one) => one === mark).length ?? 0;
      expect(got, 'a link gets a call once').toBeLessThanOrEqual(1);
      return got > back;
    });
  }

  check(): void {
    for (const [mark, { caller }] of this.calls.entries()) {
      const kept = this.kept(String(mark));
      expect(kept.length, 'at most one node keeps a call').toBeLessThanOrEqual(1);
      expect(caller.outcomes.length, 'a call settles once').toBeLessThanOrEqual(1);
      const [outcome] = caller.outcomes;
      if (outcome === undefined) continue;
      // the truth about whether it was sent, for scripts that call again
      expect(outcome.ok || outcome.error.sent, `call ${mark}`).toBe(kept.length === 1);
    }
    const open = this.calls.filter(({ caller }) => !caller.isSettled).length;
    expect(this.server.openCalls().length, 'a call without an outcome is in one place').toBe(open);
  }

  /** The world is good from now on: every call has its outcome. */
  async comesToRest(): Promise<void> {
    this.peers.reports('z');
    this.world.behaviour = () => ({ opens: true });
    for (let round = 0; round < 200; round += 1) {
      for (const link of this.world.links) {
        if (link.life === 'starting') link.opens();
        while (isBusy(link)) link.answers();
      }
      await settled();
      if (this.calls.every(({ caller }) => caller.isSettled)) break;
      this.world.clock.advance(1_000);
      await settled();
    }
    this.check();
  }
}

const markOf = ({ params }: { params: object }) => (params as { arguments: { mark: string } }).arguments.mark;
const isBusy = (link: FakeLink) => link.life === 'open' && link.oldest !== undefined;

test('I2: a call is kept by one node at most and settles once, under joins, leaves, refusals and losses', async () => {
  const told = new Map<string, number>();
  let moved = 0;
  await fc.assert(
    fc.asyncProperty(
      servers,
      fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }),
      async (of, script) => {
        const run = new Run(of);
        run.peers.reports('b');
        run.peers.reports('c');
        for (const one of script) await run.take(one);
        await run.comesToRest();
        for (const { caller } of run.calls) {
          const outcome = caller.outcomes[0]!;
          const what = outcome.ok ? 'ok' : `${outcome.error.type} ${outcome.error.sent}`;
          told.set(what, (told.get(what) ?? 0) + 1);
          if (outcome.ok && caller.routes.length > 1) moved += 1;
        }
        expect(run.server.snapshot().inFlight).toBe(0);
        run.server.close(drains('srv'));
        for (let round = 0; round < 3; round += 1) {
          await settled();
          run.world.clock.advance(10_000);
        }
        await run.server.whenGone();
        expect([run.world.alive, run.peers.listeners]).toEqual([[], 0]);
      },
    ),
    { numRuns: 100 },
  );
  expect(moved).toBeGreaterThan(20);
  for (const what of ['ok', 'CancelledError false', 'CancelledError true', 'ServerUnavailableError true'])
    expect(told.get(what) ?? 0, what).toBeGreaterThan(5);
});
