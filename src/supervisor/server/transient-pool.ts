import type { ActorRefFrom } from 'xstate';
import type { StdioSpec } from '../../config/fields/spec.js';
import type { BegunCall, CallHandle, CallRequest } from '../../link/calls/call.js';
import { endingError } from '../../link/failures/ending-error.js';
import type { StartPurpose } from '../../machines/permit.js';
import { bug, type Ending } from '../../machines/restart/ending.js';
import { serverState } from '../../machines/state-name.js';
import { type TransientMachine, transientMachine } from '../../machines/transient.js';
import {
  freeProcesses,
  type TransientContext,
  type TransientDecision,
  type TransientInput,
} from '../../machines/transient-context.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { CallSink } from '../../shared/call-sink.js';
import { dateOf } from '../../shared/clock.js';
import { refuse } from './pinned-gate.js';
import type { Runner, RunnerOptions } from './runner.js';
import type { ServerSnapshot } from './server-snapshot.js';
import { TransientProcess } from './transient-process.js';
import { WaitingCalls } from './waiting-calls.js';

/** The processes of a transient server, and the calls that wait for one. The transient machine decides; this carries it out. */
export class TransientPool implements Runner {
  readonly here = this;
  readonly #options: RunnerOptions<StdioSpec>;
  readonly #actor: ActorRefFrom<TransientMachine>;
  /** Those that have not ended, by their incarnation. */
  readonly #processes = new Map<number, TransientProcess>();
  /** Every call waits here until the machine has chosen its process, most for no time at all. */
  readonly #queue: WaitingCalls;
  readonly #waiters = new Set<() => void>();
  /** The sink of the call that is being sent at this moment. */
  #arriving: CallSink | undefined;
  /** The error of calls while it is stopped. */
  #stopError: MCPError | undefined;
  #newest: TransientProcess | undefined;
  #failedAt: number | undefined;

  constructor(options: RunnerOptions<StdioSpec>) {
    const { id, spec, deps } = options;
    this.#options = options;
    this.#queue = new WaitingCalls(spec.name, deps.clock);
    const { spares, maxInFlight, backoff } = spec;
    const input: TransientInput = {
      spares,
      maxInFlight,
      backoff,
      now: () => deps.clock.now(),
      random: () => deps.random(),
      availability: (process) => this.#processes.get(process)?.availability ?? 'never',
    };
    this.#actor = deps.keep(id, 'transient', transientMachine, input) as ActorRefFrom<TransientMachine>;
    this.#actor.on('*', (decision) => this.#carryOut(decision));
    this.#actor.subscribe({ error: (error) => this.#broke(error) });
  }

  /** A spare waits that takes a call at once. */
  get isReady(): boolean {
    return this.#free.some(({ availability }) => availability === 'now');
  }

  /** A quarantine of its spares keeps no call from getting a process. */
  get waitsFor(): 'start' | 'person' {
    return this.#isOpen ? 'start' : 'person';
  }

  get load(): number {
    let load = this.#queue.size;
    for (const { inFlight } of this.#processes.values()) load += inFlight;
    return load;
  }

  /** How its processes have ended since it was last stopped. */
  get lastStops(): readonly Ending[] {
    return this.#context.lastStops;
  }

  /** A quarantine of its spares is no `detail`: a call gets a process all the same. */
  snapshot(): ServerSnapshot {
    const { incarnation, nextRetryAt, lastError } = this.#context;
    const processes = [...this.#processes.values()];
    const server = this.#newest?.state ?? 'created';
    const detail = !this.#isOpen ? 'stopped' : processes.length > 0 ? 'running' : 'idle';
    return {
      state: serverState(server),
      detail,
      states: { server, keeper: detail },
      pids: processes.flatMap(({ pids }) => pids),
      incarnation,
      restarts: 0,
      nextRetryAt,
      lastError,
      failedAt: this.#failedAt,
      inFlight: processes.reduce((sum, { inFlight }) => sum + inFlight, 0),
      opened: this.#newest?.opened,
    };
  }

  openCalls(): BegunCall[] {
    return [...this.#queue.all(), ...[...this.#processes.values()].flatMap((one) => one.openCalls())];
  }

  begin(): void {
    const { start, spares } = this.#options.spec;
    if (start === 'eager' || spares > 0) this.start();
  }

  send(request: CallRequest, sink: CallSink): CallHandle | undefined {
    if (!this.#isOpen && this.#stopError !== undefined) {
      sink.settle({ ok: false, error: this.#stopError });
      return undefined;
    }
    const handle = this.#queue.add(request, sink);
    this.#arriving = sink;
    if (handle !== undefined) this.#offerCall();
    this.#arriving = undefined;
    return handle;
  }

  start(): void {
    this.#actor.send({ type: 'start' });
  }

  stop(stopError: MCPError): void {
    this.#stopError = stopError;
    this.#actor.send({ type: 'stop' });
  }

  close(refusal: MCPError): void {
    this.stop(refusal);
  }

  /** Every call gets a process: there is no try to make. */
  passedOver(): void {}

  drain(refusal: MCPError): void {
    this.#stopError = refusal;
    this.#actor.send({ type: 'drain' });
    for (const transient of [...this.#processes.values()]) transient.refuseWaiting(refusal);
  }

  cut(errorFor: (sent: boolean) => MCPError): void {
    for (const transient of [...this.#processes.values()]) transient.cut(errorFor);
  }

  /** Replaces every process. Fresh ones do not wait for the old ones: each process stands alone. */
  restart(): void {
    this.#actor.send({ type: 'restart' });
  }

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

  whenGone(): Promise<void> {
    const present = [...this.#processes.values()];
    return this.#when(() => present.every(({ incarnation }) => !this.#processes.has(incarnation)));
  }

  /** By spares, or by a process that is started for it. */
  discover(purpose: StartPurpose = 'discovery'): boolean {
    if (!this.#isOpen) return false;
    this.#actor.send({ type: 'discover', purpose });
    return true;
  }

  reread(): void {
    for (const transient of this.#free) transient.rediscover();
  }

  /** The pins have changed: spares that never listed their tools may have to. */
  recheckPins(): void {
    for (const transient of [...this.#processes.values()]) transient.recheckPins(this.#isFree(transient));
  }

  renewLogLevel(): void {
    for (const transient of this.#processes.values()) transient.renewLogLevel();
  }

  release(): void {
    this.#options.deps.release(this.#options.id);
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
      this.#options.deps.log(`a fault in toolherd itself: ${String(error)}`);
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
    if (this.#stopError !== undefined) this.#queue.fail(this.#stopError);
  }

  /** A bug in the machine: a call that waits for a decision of it would wait for ever. */
  #broke(error: unknown): void {
    const ending = bug(`${this.#options.spec.name}: its supervision failed`, error);
    this.#options.deps.log(ending.message);
    this.#stopError = endingError(this.#options.spec.name, ending, false);
    this.#refuseCalls();
    for (const transient of [...this.#processes.values()]) transient.stop();
  }

  #offerCall(): void {
    if (this.#queue.size > 0) this.#actor.send({ type: 'call.waiting' });
  }

  #launch(incarnation: number, purpose: StartPurpose): void {
    const transient = new TransientProcess({
      ...this.#options,
      id: `${this.#options.id}.${incarnation}`,
      incarnation,
      ready: () => this.#ready(incarnation),
      settled: () => this.#actor.send({ type: 'call.settled', process: incarnation }),
      ended: (ending) => this.#ended(incarnation, ending),
    });
    this.#processes.set(incarnation, transient);
    this.#newest = transient;
    transient.begin(purpose);
  }

  /** Gives the process the call that has waited longest, if one still waits. */
  #serve(process: number): void {
    const transient = this.#processes.get(process);
    let isTaken = false;
    const take = (request: CallRequest, sink: CallSink) => {
      // while a call waited, a spare may have listed a tool that is not as it was pinned
      if (sink !== this.#arriving && refuse(this.#options.pinChecking, request, sink)) return undefined;
      isTaken = true;
      return transient?.take(request, sink);
    };
    while (!isTaken && this.#queue.handOver(take));
    if (isTaken) this.#offerCall();
    else this.#actor.send({ type: 'call.gone', process, listsWanted: this.#options.lists.isDue });
  }

  #readLists(purpose: StartPurpose): void {
    const free = this.#free;
    this.reread();
    if (purpose === 'use') for (const transient of free) transient.startForUse();
  }

  #ready(process: number): void {
    this.#actor.send({ type: 'process.ready', process, listsWanted: this.#options.lists.isDue });
    this.#look();
  }

  #ended(process: number, ending: Ending): void {
    this.#processes.delete(process);
    if (ending.kind === 'error') this.#failedAt = dateOf(this.#options.deps.clock);
    this.#actor.send({ type: 'process.ended', process, ending });
    this.#offerCall();
    this.#renewReading(ending);
    this.#look();
  }

  /** A request for lists may have waited for this process: then the next one reads them, unless it failed. */
  #renewReading(ending: Ending): void {
    const { lists } = this.#options;
    if (this.#free.length === 0) lists.suspend();
    if (!lists.isAwaited) return;
    const isStopped = ending.kind === 'disconnected' && ending.reason === 'stopped';
    if (!isStopped || !this.discover()) lists.giveUp();
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
