import type { StdioSpec } from '../../config/schema/spec.js';
import type { CallHandle, CallRequest } from '../../link/session/call.js';
import type { Ending, Failed } from '../../machines/ending.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { ListName, Reading, ReadingOrder } from '../catalog/lists.js';
import { RetryTimer } from '../retry-timer.js';
import type { StartPurpose } from './permits.js';
import { type PinChecking, refuse } from './pinned-gate.js';
import type { RoutedSink } from './routed-sink.js';
import type { ServerDeps } from './server-deps.js';
import { TransientProcess } from './transient-process.js';
import { WaitingCalls } from './waiting-calls.js';

export interface TransientPoolEvents {
  listed(reading: Reading): void;
  /** The server says that this list has changed. */
  outdated?(list: ListName): void;
  /** There is a reason to read a list. */
  wantsLists(): boolean;
  toRead(isAllWanted: boolean): ReadingOrder;
  /** A process came to its end; `isTold`: as it was told to. Who waits for lists may have waited for it. */
  left(isTold: boolean): void;
  pinChecking?: PinChecking | undefined;
}

/** Longer than most calls, shorter than a start. */
const SOON_MS = 50;

/**
 * A transient server: a fresh process for each call, gone after it. `spares` of them wait with their handshake done, so
 * that a call need not wait for a start. There are never more processes than calls in flight and spares (those that
 * are on their way out are not counted: they have no call and take none), and one while the lists are asked for.
 */
export class TransientPool {
  readonly #spec: StdioSpec;
  readonly #id: string;
  readonly #deps: ServerDeps;
  readonly #on: TransientPoolEvents;
  readonly #predecessor: Promise<unknown>;
  readonly #processes = new Set<TransientProcess>();
  /** Calls that wait because as many processes run as may. */
  readonly #queue: WaitingCalls<RoutedSink>;
  readonly #retry: RetryTimer;
  readonly #waiters = new Set<() => void>();
  #soon: unknown;
  /** Why it takes no calls; undefined while it does. */
  #refusal: MCPError | undefined;
  newest: TransientProcess | undefined;
  incarnation = 0;
  lastError: Failed | undefined;
  failedAt: number | undefined;
  /** How its processes have ended since it was last stopped. */
  lastStops: Ending[] = [];

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
    this.#retry = new RetryTimer(deps, spec.backoff);
  }

  get detail(): 'idle' | 'running' | 'stopped' {
    if (this.#refusal !== undefined) return 'stopped';
    return this.#processes.size > 0 ? 'running' : 'idle';
  }

  get hasSpares(): boolean {
    return this.#spec.spares > 0;
  }

  /** A process is there, or on its way, that has no call. */
  get hasFree(): boolean {
    return this.#free.length > 0;
  }

  /** A spare waits that takes a call at once. */
  get isReady(): boolean {
    return this.#free.some((transient) => transient.isReady);
  }

  get pids(): number[] {
    return [...this.#processes].flatMap((transient) => transient.pids);
  }

  get inFlight(): number {
    return [...this.#processes].reduce((sum, transient) => sum + transient.inFlight, 0);
  }

  send(request: CallRequest, sink: RoutedSink): CallHandle | undefined {
    if (this.#refusal !== undefined) {
      sink.settle({ ok: false, error: this.#refusal });
      return undefined;
    }
    return this.#hasRoom ? this.#serve(request, sink) : this.#queue.add(request, sink);
  }

  /** Be ready: spares begin to wait. */
  start(): void {
    this.#refusal = undefined;
    this.#refill();
  }

  /** `refusal`: what a call is told from now on. */
  stop(refusal: MCPError): void {
    this.#refusal = refusal;
    this.lastStops = [];
    this.#queue.fail(refusal);
    this.#clear();
  }

  /** Nothing that runs now stays. Those that follow need not wait for it: each process is on its own. */
  restart(): void {
    this.#clear();
    this.start();
  }

  /** Forgets the failures: spares are tried again at once. */
  reset(): void {
    this.#retry.forgive();
    this.#retry.clear();
    this.#refill();
  }

  /** Resolves when no process is starting: every spare waits, or is known not to. */
  whenDecided(): Promise<void> {
    return this.#when(() => this.#free.every((transient) => transient.isReady));
  }

  /** Resolves when no spare is reading lists. */
  async whenTold(): Promise<void> {
    await Promise.all(this.#free.map((transient) => transient.whenTold()));
  }

  /** Resolves when none of the present processes is left. A later order may have others follow them. */
  whenGone(): Promise<void> {
    const present = [...this.#processes];
    return this.#when(() => !present.some((transient) => this.#processes.has(transient)));
  }

  /** Has the lists read: by those that wait, or else by one that stays only as a spare. False when it is stopped. */
  discover(purpose: StartPurpose = 'discovery'): boolean {
    if (this.#refusal !== undefined) return false;
    const free = this.#free;
    if (free.length === 0) this.#launch(purpose);
    else this.rediscover();
    if (purpose === 'use') for (const transient of free) transient.startForUse();
    return true;
  }

  /** Has the lists read by those that wait; starts none for it. */
  rediscover(): void {
    for (const transient of this.#free) transient.rediscover();
  }

  /** What may be called is not what it was: those that wait may never have said what they offer. */
  recheckPins(): void {
    for (const transient of [...this.#processes]) transient.recheckPins();
  }

  get #free(): TransientProcess[] {
    return [...this.#processes].filter((transient) => transient.isFree);
  }

  get #hasRoom(): boolean {
    return this.#processes.size - this.#free.length < this.#spec.maxInFlight;
  }

  #serve(request: CallRequest, sink: RoutedSink): CallHandle | undefined {
    const free = this.#free;
    const transient = free.find((candidate) => candidate.isReady) ?? free[0] ?? this.#launch();
    const handle = transient.take(request, sink);
    this.#refillSoon();
    return handle;
  }

  /** A spare may have told meanwhile that the tool is not what was pinned. */
  #serveNext(request: CallRequest, sink: RoutedSink): CallHandle | undefined {
    return refuse(this.#on.pinChecking, request, sink) ? undefined : this.#serve(request, sink);
  }

  /** Starting a process takes the daemon some milliseconds, which this call should not have to wait for. */
  #refillSoon(): void {
    if (this.#spec.spares === 0 || this.#soon !== undefined) return;
    this.#soon = this.#deps.clock.setTimeout(() => {
      this.#soon = undefined;
      this.#refill();
    }, SOON_MS);
  }

  #launch(purpose: StartPurpose = 'use'): TransientProcess {
    this.incarnation += 1;
    const id = `${this.#id}.${this.incarnation}`;
    const transient: TransientProcess = new TransientProcess(id, this.incarnation, this.#spec, this.#deps, {
      ready: () => this.#rest(transient),
      listed: (reading) => {
        this.#on.listed(reading);
        transient.admit(reading);
        this.#rest(transient);
      },
      outdated: (list) => this.#on.outdated?.(list),
      toRead: () => this.#on.toRead(this.#on.pinChecking?.isStrict() === true),
      ended: (ending) => this.#ended(transient, ending),
      pinChecking: this.#on.pinChecking,
    });
    this.#processes.add(transient);
    this.newest = transient;
    transient.begin(this.#predecessor, purpose);
    return transient;
  }

  /** It was started for the lists alone, and they are known. */
  #rest(transient: TransientProcess): void {
    if (transient.isFree && this.#free.length > this.#spec.spares && !this.#on.wantsLists()) transient.stop();
    this.#tell();
  }

  /** A spare that failed is not replaced at once: the next try follows the restart policy's backoff, or an order. */
  #refill(): void {
    if (this.#refusal !== undefined || this.#retry.isSet) return;
    for (let missing = this.#spec.spares - this.#free.length; missing > 0; missing--) this.#launch();
  }

  #ended(transient: TransientProcess, ending: Ending): void {
    this.#processes.delete(transient);
    const isTold = ending.kind === 'disconnected' && ending.reason === 'stopped';
    if (isTold) this.#retry.forgive();
    if (this.#refusal !== undefined) this.lastStops.push(ending);
    if (ending.kind === 'error') {
      this.lastError = ending;
      this.failedAt = this.#deps.clock.now();
    }
    while (this.#hasRoom && this.#queue.handOver((...call) => this.#serveNext(...call)));
    if (transient.isSpare && !isTold) this.#refillLater(ending);
    else this.#refill();
    this.#on.left(isTold);
    this.#tell();
  }

  /** Trying again cannot help where the command is missing: then the next call or order is the next try. */
  #refillLater(ending: Ending): void {
    const isPermanent = ending.kind === 'error' && ending.permanent === true;
    if (this.#refusal === undefined && !isPermanent) this.#retry.set(() => this.#refill());
  }

  #clear(): void {
    this.#deps.clock.clearTimeout(this.#soon);
    this.#soon = undefined;
    this.#retry.clear();
    for (const transient of [...this.#processes]) transient.stop();
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

  #tell(): void {
    for (const look of [...this.#waiters]) look();
  }
}
