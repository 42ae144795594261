import { type ActorRefFrom, createActor } from 'xstate';
import type { StdioSpec } from '../../config/schema/spec.js';
import type { CallHandle, CallRequest, CallSink } from '../../link/calls/call.js';
import { endingError } from '../../link/calls/ending-error.js';
import type { StartPurpose } from '../../machines/permit.js';
import { bug, type Ending, type Failed } from '../../machines/restart/ending.js';
import { type TransientMachine, transientMachine } from '../../machines/transient.js';
import {
  freeProcesses,
  type TransientContext,
  type TransientDecision,
} from '../../machines/transient-context.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { ListName, Reading, ReadingOrder } from '../catalog/lists.js';
import { type PinChecking, refuse } from './pinned-gate.js';
import type { ServerDeps } from './server-deps.js';
import { actorClock } from './shared-machines.js';
import { TransientProcess } from './transient-process.js';
import { WaitingCalls } from './waiting-calls.js';

export interface TransientPoolEvents {
  listed(reading: Reading): void;
  /** The server says that this list has changed. */
  outdated?(list: ListName): void;
  /** There is a reason to read a list. */
  wantsLists(): boolean;
  toRead(isAllWanted: boolean): ReadingOrder;
  /** A process has ended; `isTold`: by order. A request for lists may have waited for it. */
  left(isTold: boolean): void;
  pinChecking?: PinChecking | undefined;
}

/** The processes of a transient server, and the calls that wait for one. The transient machine decides; this carries it out. */
export class TransientPool {
  readonly #spec: StdioSpec;
  readonly #id: string;
  readonly #deps: ServerDeps;
  readonly #on: TransientPoolEvents;
  readonly #predecessor: Promise<unknown>;
  readonly #actor: ActorRefFrom<TransientMachine>;
  /** Those that have not ended, by their incarnation. */
  readonly #processes = new Map<number, TransientProcess>();
  /** Every call waits here until the machine has chosen its process, most for no time at all. */
  readonly #queue: WaitingCalls;
  readonly #waiters = new Set<() => void>();
  /** The sink of the call that is being sent at this moment. */
  #arriving: CallSink | undefined;
  /** The error of calls while it is stopped. */
  #refusal: MCPError | undefined;
  newest: TransientProcess | undefined;

  constructor(
    id: string,
    spec: StdioSpec,
    deps: ServerDeps,
    on: TransientPoolEvents,
    predecessor: Promise<unknown>,
  ) {
    this.#id = id;
    this.#spec = spec;
    this.#deps = deps;
    this.#on = on;
    this.#predecessor = predecessor;
    this.#queue = new WaitingCalls(spec.name, deps.clock);
    const { spares, maxInFlight, backoff } = spec;
    this.#actor = createActor(transientMachine, {
      clock: actorClock(deps.clock),
      input: {
        spares,
        maxInFlight,
        backoff,
        now: () => deps.clock.now(),
        random: () => deps.random(),
        availability: (process) => this.#processes.get(process)?.availability ?? 'never',
      },
    });
    this.#actor.on('*', (decision) => this.#carryOut(decision));
    this.#actor.subscribe({ error: (error) => this.#broke(error) });
    this.#actor.start();
  }

  get detail(): 'idle' | 'running' | 'stopped' {
    if (!this.#isOpen) return 'stopped';
    return this.#processes.size > 0 ? 'running' : 'idle';
  }

  get hasSpares(): boolean {
    return this.#spec.spares > 0;
  }

  /** A process without a call is there, or starts. */
  get hasFree(): boolean {
    return this.#free.length > 0;
  }

  /** A spare waits that takes a call at once. */
  get isReady(): boolean {
    return this.#free.some(({ availability }) => availability === 'now');
  }

  get pids(): number[] {
    return [...this.#processes.values()].flatMap(({ pids }) => pids);
  }

  get inFlight(): number {
    return [...this.#processes.values()].reduce((sum, { inFlight }) => sum + inFlight, 0);
  }

  get incarnation(): number {
    return this.#context.incarnation;
  }

  get lastError(): Failed | undefined {
    return this.#context.lastError;
  }

  get failedAt(): number | undefined {
    return this.#context.failedAt;
  }

  /** How its processes have ended since it was last stopped. */
  get lastStops(): readonly Ending[] {
    return this.#context.lastStops;
  }

  send(request: CallRequest, sink: CallSink): CallHandle | undefined {
    if (!this.#isOpen && this.#refusal !== undefined) {
      sink.settle({ ok: false, error: this.#refusal });
      return undefined;
    }
    const handle = this.#queue.add(request, sink);
    this.#arriving = sink;
    if (handle !== undefined) this.#offerCall();
    this.#arriving = undefined;
    return handle;
  }

  /** Take calls, and start the spares. */
  start(): void {
    this.#actor.send({ type: 'start' });
  }

  /** `refusal`: the error of calls from now on. */
  stop(refusal: MCPError): void {
    this.#refusal = refusal;
    this.#actor.send({ type: 'stop' });
  }

  /** Replaces every process. Fresh ones do not wait for the old ones: each process stands alone. */
  restart(): void {
    this.#actor.send({ type: 'restart' });
  }

  /** Forgets the failures: spares are tried again at once. */
  reset(): void {
    this.#actor.send({ type: 'reset' });
  }

  /** Resolves when no process is starting: every spare waits, or has failed. */
  whenDecided(): Promise<void> {
    return this.#when(() => this.#free.every(({ availability }) => availability === 'now'));
  }

  /** Resolves when no spare is reading lists. */
  async whenListsRead(): Promise<void> {
    await Promise.all(this.#free.map((transient) => transient.whenListsRead()));
  }

  /** Resolves when none of the present processes is left. A later order may start others. */
  whenGone(): Promise<void> {
    const present = [...this.#processes.values()];
    return this.#when(() => present.every(({ incarnation }) => !this.#processes.has(incarnation)));
  }

  /** Has the lists read by spares, or by a process that is started for it. False when it is stopped. */
  discover(purpose: StartPurpose = 'discovery'): boolean {
    if (!this.#isOpen) return false;
    this.#actor.send({ type: 'discover', purpose });
    return true;
  }

  /** Has the lists read by spares; starts no process for it. */
  rediscover(): void {
    for (const transient of this.#free) transient.rediscover();
  }

  /** The pins have changed: spares that never listed their tools may have to. */
  recheckPins(): void {
    for (const transient of [...this.#processes.values()]) transient.recheckPins(this.#isFree(transient));
  }

  get #context(): TransientContext {
    return this.#actor.getSnapshot().context;
  }

  get #isOpen(): boolean {
    const snapshot = this.#actor.getSnapshot();
    return snapshot.status === 'active' && snapshot.hasTag('open');
  }

  get #free(): TransientProcess[] {
    return freeProcesses(this.#context).flatMap((process) => this.#processes.get(process) ?? []);
  }

  #isFree({ incarnation }: TransientProcess): boolean {
    return this.#context.processes.get(incarnation) === 'free';
  }

  /** An error of ours must not break the emitting machine: it is logged. */
  #carryOut(decision: TransientDecision): void {
    try {
      this.#act(decision);
    } catch (error) {
      this.#deps.log(`a fault in toolherd itself: ${String(error)}`);
    }
  }

  #act(decision: TransientDecision): void {
    const { type } = decision;
    if (type === 'process.launch') this.#launch(decision.process, decision.purpose);
    else if (type === 'process.serve') this.#serve(decision.process);
    else if (type === 'process.finish') this.#processes.get(decision.process)?.finish();
    else if (type === 'process.stop') this.#processes.get(decision.process)?.stop();
    else if (type === 'lists.read') this.#readLists(decision.purpose);
    else this.#refuseCalls();
  }

  #refuseCalls(): void {
    if (this.#refusal !== undefined) this.#queue.fail(this.#refusal);
  }

  /** A bug in the machine: a call that waits for a decision of it would wait for ever. */
  #broke(error: unknown): void {
    const ending = bug(`${this.#spec.name}: its processes are not looked after`, error);
    this.#deps.log(ending.message);
    this.#refusal = endingError(this.#spec.name, ending, false);
    this.#refuseCalls();
    for (const transient of [...this.#processes.values()]) transient.stop();
  }

  #offerCall(): void {
    if (this.#queue.size > 0) this.#actor.send({ type: 'call.waiting' });
  }

  #launch(incarnation: number, purpose: StartPurpose): void {
    const transient = new TransientProcess(
      `${this.#id}.${incarnation}`,
      incarnation,
      this.#spec,
      this.#deps,
      {
        ready: () => this.#ready(incarnation),
        listed: (reading) => this.#on.listed(reading),
        outdated: (list) => this.#on.outdated?.(list),
        toRead: () => this.#on.toRead(this.#on.pinChecking?.isStrict() === true),
        settled: () => this.#actor.send({ type: 'call.settled', process: incarnation }),
        ended: (ending) => this.#ended(incarnation, ending),
        pinChecking: this.#on.pinChecking,
      },
    );
    this.#processes.set(incarnation, transient);
    this.newest = transient;
    transient.begin(this.#predecessor, purpose);
  }

  /** Gives the process the call that has waited longest, if one still waits. */
  #serve(process: number): void {
    const transient = this.#processes.get(process);
    let isTaken = false;
    const take = (request: CallRequest, sink: CallSink) => {
      // while a call waited, a spare may have listed a tool that is not as it was pinned
      if (sink !== this.#arriving && refuse(this.#on.pinChecking, request, sink)) return undefined;
      isTaken = true;
      return transient?.take(request, sink);
    };
    while (!isTaken && this.#queue.handOver(take));
    if (isTaken) this.#offerCall();
    else this.#actor.send({ type: 'call.gone', process, listsWanted: this.#on.wantsLists() });
  }

  #readLists(purpose: StartPurpose): void {
    const free = this.#free;
    this.rediscover();
    if (purpose === 'use') for (const transient of free) transient.startForUse();
  }

  #ready(process: number): void {
    this.#actor.send({ type: 'process.ready', process, listsWanted: this.#on.wantsLists() });
    this.#look();
  }

  #ended(process: number, ending: Ending): void {
    this.#processes.delete(process);
    this.#actor.send({ type: 'process.ended', process, ending });
    this.#offerCall();
    this.#on.left(ending.kind === 'disconnected' && ending.reason === 'stopped');
    this.#look();
  }

  #when(isTrue: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!isTrue()) return;
        this.#waiters.delete(look);
        resolve();
      };
      this.#waiters.add(look);
      look();
    });
  }

  #look(): void {
    for (const look of [...this.#waiters]) look();
  }
}
