/**
 * A transient machine in the simulated world: its processes are server machines with simulated links, its calls are
 * only counted. Nothing happens until a test makes it happen; `check` throws with the name of the law that is broken.
 */
import { type ActorRefFrom, createActor } from 'xstate';
import type { LinkReport } from '../machines/link-protocol.js';
import type { Ending } from '../machines/restart/ending.js';
import type { ServerMachine } from '../machines/server.js';
import type { ServerSettings } from '../machines/server-context.js';
import { stateName } from '../machines/state-name.js';
import { transientMachine } from '../machines/transient.js';
import {
  type Availability,
  freeProcesses,
  type TransientDecision,
  type TransientInput,
} from '../machines/transient-context.js';
import type { SimulatedWorld } from './world.js';

interface PoolProcess {
  server: ActorRefFrom<ServerMachine>;
  /** The number of the call that it was given. */
  call: number | undefined;
  isTold: boolean;
  /** It has died, and its link has not reported it yet. */
  isDead: boolean;
}

export interface PoolOptions extends Pick<TransientInput, 'spares' | 'maxInFlight' | 'backoff'> {
  server: ServerSettings;
}

export class SimulatedPool {
  readonly actor: ActorRefFrom<typeof transientMachine>;
  readonly processes = new Map<number, PoolProcess>();
  /** The calls that wait, by their numbers, oldest first. */
  readonly waiting: number[] = [];
  /** Which process each call was given to. */
  readonly routes = new Map<number, number>();
  refused = 0;
  launched = 0;
  /** Whether there is a reason to read the lists. */
  listsWanted = false;
  readonly #world: SimulatedWorld;
  readonly #options: PoolOptions;
  #calls = 0;

  constructor(world: SimulatedWorld, options: PoolOptions) {
    this.#world = world;
    this.#options = options;
    const { spares, maxInFlight, backoff } = options;
    this.actor = createActor(transientMachine, {
      clock: world.clock,
      input: {
        spares,
        maxInFlight,
        backoff,
        now: world.clock.now,
        random: () => 0.5,
        availability: (process) => this.#availability(process),
      },
    });
    this.actor.on('*', (decision) => this.#carryOut(decision));
    this.actor.start();
  }

  get state(): string {
    return stateName(this.actor.getSnapshot().value);
  }

  call(): void {
    if (!this.actor.getSnapshot().hasTag('open')) {
      this.refused += 1;
      return;
    }
    this.#calls += 1;
    this.waiting.push(this.#calls);
    this.#offerCall();
  }

  /** The call of this process has its outcome. */
  settle(process: number): void {
    const one = this.processes.get(process);
    if (one?.call === undefined) return;
    one.call = undefined;
    this.actor.send({ type: 'call.settled', process });
  }

  /** The link of this process makes a report. The session of a process that exits settles its call before that. */
  say(process: number, report: LinkReport): void {
    if (report.type === 'link.exited') {
      this.dies(process);
      this.settle(process);
    }
    this.#world.links.find(({ incarnation }) => incarnation === process)?.say(report);
  }

  /** The process dies, and no report says so yet. */
  dies(process: number): void {
    const one = this.processes.get(process);
    if (one !== undefined) one.isDead = true;
  }

  /** Throws where the pool is not as its laws want it. */
  check(): void {
    const { context } = this.actor.getSnapshot();
    const { spares, maxInFlight } = this.#options;
    const { state } = this;
    for (const { server } of this.processes.values()) this.#world.check(server.getSnapshot());
    const phases = [...context.processes].map(([process, phase]) => `${process} ${phase}`);
    const truth = [...this.processes].map(([process, one]) => `${process} ${phaseOf(one)}`);
    const serving = [...this.processes.values()].filter(({ call }) => call !== undefined).length;
    const free = freeProcesses(context).length;
    const taken = context.processes.size - free;
    const isLeaving = [...context.processes.values()].every((phase) => phase === 'leaving');
    const laws: Record<string, boolean> = {
      'the phases are what is true': phases.join() === truth.join(),
      'I9: one process for each call, the spares, and one for the lists': free <= Math.max(spares, 1),
      'I9: at most max_in_flight processes have a call': serving <= maxInFlight,
      'a call waits only while max_in_flight processes are taken':
        this.waiting.length === 0 || taken >= maxInFlight,
      'I6: stopped: every process is leaving, and no call waits':
        state !== 'stopped' || (isLeaving && this.waiting.length === 0),
      'draining: no process is free, and no call waits':
        state !== 'draining' ||
        (!phases.some((phase) => phase.endsWith('free')) && this.waiting.length === 0),
      'a next try is planned while waiting, and only then':
        (context.nextRetryAt !== undefined) === (state === 'open.waiting'),
    };
    for (const [law, holds] of Object.entries(laws)) {
      if (!holds) throw new Error(`${law} (${state}: ${phases}; ${truth}; ${this.waiting.length} wait)`);
    }
  }

  #carryOut(decision: TransientDecision): void {
    switch (decision.type) {
      case 'process.launch':
        this.#launch(decision.process);
        break;
      case 'process.serve':
        this.#serve(decision.process);
        break;
      case 'process.finish':
        this.#finish(decision.process);
        break;
      case 'process.stop':
        this.#stop(decision.process);
        break;
      case 'calls.refuse':
        this.refused += this.waiting.splice(0).length;
        break;
    }
  }

  #offerCall(): void {
    if (this.waiting.length > 0) this.actor.send({ type: 'call.waiting' });
  }

  #launch(process: number): void {
    this.launched += 1;
    const input = { ...this.#options.server, incarnation: process };
    const server = createActor(this.#world.server, { clock: this.#world.clock, input });
    this.processes.set(process, { server, call: undefined, isTold: false, isDead: false });
    let wasReading = true;
    server.subscribe({
      next: (snapshot) => {
        const isReading = !snapshot.matches({ connected: 'serving' });
        const isReady = wasReading && !isReading;
        wasReading = isReading;
        if (isReady) this.actor.send({ type: 'process.ready', process, listsWanted: this.listsWanted });
      },
      complete: () => this.#ended(process, server.getSnapshot().output!),
    });
    server.start();
    server.send({ type: 'connect' });
  }

  #serve(process: number): void {
    const one = this.processes.get(process);
    const call = this.waiting.shift();
    if (one === undefined || call === undefined) {
      this.actor.send({ type: 'call.gone', process, listsWanted: this.listsWanted });
      return;
    }
    one.call = call;
    this.routes.set(call, process);
    this.#offerCall();
  }

  /** A process that has died is not told to stop: its ending shows why. */
  #finish(process: number): void {
    const one = this.processes.get(process);
    if (one?.isDead) one.isTold = true;
    else this.#stop(process);
  }

  #stop(process: number): void {
    const one = this.processes.get(process);
    if (one === undefined) return;
    one.call = undefined;
    one.isTold = true;
    one.server.send({ type: 'stop' });
  }

  #ended(process: number, ending: Ending): void {
    this.processes.delete(process);
    this.actor.send({ type: 'process.ended', process, ending });
    this.#offerCall();
  }

  #availability(process: number): Availability {
    const one = this.processes.get(process);
    const snapshot = one?.server.getSnapshot();
    if (one === undefined || snapshot?.status !== 'active') return 'never';
    if (one.isDead || snapshot.hasTag('leaving')) return 'never';
    return snapshot.matches('connected') ? 'now' : 'later';
  }
}

function phaseOf({ call, isTold }: PoolProcess): string {
  if (isTold) return 'leaving';
  return call === undefined ? 'free' : 'serving';
}
