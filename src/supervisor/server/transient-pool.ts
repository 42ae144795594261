import type { StdioSpec } from '../../config/schema/spec.js';
import type { CallHandle, CallRequest } from '../../link/session/call.js';
import type { Ending, Failed } from '../../machines/ending.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { ListName, Reading, ReadingOrder } from '../catalog/lists.js';
import { RetryTimer } from '../retry-timer.js';
import { refuse, type Vetting } from './pinned-gate.js';
import type { RoutedSink } from './routed-sink.js';
import type { Surroundings } from './server-deps.js';
import { OneShot } from './transient-process.js';
import { Parking } from './waiting-calls.js';

export interface TransientEvents {
  listed(reading: Reading): void;
  /** The server says that this list has changed. */
  outdated?(list: ListName): void;
  /** There is a reason to read a list. */
  wantsLists(): boolean;
  toRead(isAllWanted: boolean): ReadingOrder;
  /** A process came to its end; `isTold`: as it was told to. Who waits for lists may have waited for it. */
  left(isTold: boolean): void;
  vetting?: Vetting | undefined;
}

/** Longer than most calls, shorter than a start. */
const SOON_MS = 50;

/**
 * A transient server: a fresh process for each call, gone after it. `spares` of them wait with their handshake done, so
 * that a call need not wait for a start. There are never more processes than calls in flight and spares (those that
 * are on their way out are not counted: they have no call and take none), and one while the lists are asked for.
 */
export class Transients {
  readonly #spec: StdioSpec;
  readonly #id: string;
  readonly #around: Surroundings;
  readonly #on: TransientEvents;
  readonly #predecessor: Promise<unknown>;
  readonly #shots = new Set<OneShot>();
  /** Calls that wait because as many processes run as may. */
  readonly #queue: Parking<RoutedSink>;
  readonly #retry: RetryTimer;
  readonly #waiters = new Set<() => void>();
  #soon: unknown;
  /** Why it takes no calls; undefined while it does. */
  #refusal: MCPError | undefined;
  newest: OneShot | undefined;
  incarnation = 0;
  lastError: Failed | undefined;
  failedAt: number | undefined;
  /** How its processes have ended since it was last stopped. */
  lastStops: Ending[] = [];

  constructor(
    id: string,
    spec: StdioSpec,
    around: Surroundings,
    on: TransientEvents,
    predecessor: Promise<unknown>,
  ) {
    this.#id = id;
    this.#spec = spec;
    this.#around = around;
    this.#on = on;
    this.#predecessor = predecessor;
    this.#queue = new Parking(spec.name, around.clock);
    this.#retry = new RetryTimer(around, spec.backoff);
  }

  get detail(): 'idle' | 'running' | 'stopped' {
    if (this.#refusal !== undefined) return 'stopped';
    return this.#shots.size > 0 ? 'running' : 'idle';
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
    return this.#free.some((shot) => shot.isReady);
  }

  get pids(): number[] {
    return [...this.#shots].flatMap((shot) => shot.pids);
  }

  get inFlight(): number {
    return [...this.#shots].reduce((sum, shot) => sum + shot.inFlight, 0);
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
    return this.#when(() => this.#free.every((shot) => shot.isReady));
  }

  /** Resolves when no spare is reading lists. */
  async whenTold(): Promise<void> {
    await Promise.all(this.#free.map((shot) => shot.whenTold()));
  }

  /** Resolves when none of the present processes is left. A later order may have others follow them. */
  whenGone(): Promise<void> {
    const present = [...this.#shots];
    return this.#when(() => !present.some((shot) => this.#shots.has(shot)));
  }

  /** Has the lists read: by those that wait, or else by one that stays only as a spare. False when it is stopped. */
  discover(): boolean {
    if (this.#refusal !== undefined) return false;
    if (this.#free.length === 0) this.#launch();
    else this.rediscover();
    return true;
  }

  /** Has the lists read by those that wait; starts none for it. */
  rediscover(): void {
    for (const shot of this.#free) shot.rediscover();
  }

  /** What may be called is not what it was: those that wait may never have said what they offer. */
  vetAgain(): void {
    for (const shot of [...this.#shots]) shot.vetAgain();
  }

  get #free(): OneShot[] {
    return [...this.#shots].filter((shot) => shot.isFree);
  }

  get #hasRoom(): boolean {
    return this.#shots.size - this.#free.length < this.#spec.maxInFlight;
  }

  #serve(request: CallRequest, sink: RoutedSink): CallHandle | undefined {
    const free = this.#free;
    const shot = free.find((candidate) => candidate.isReady) ?? free[0] ?? this.#launch();
    const handle = shot.take(request, sink);
    this.#refillSoon();
    return handle;
  }

  /** A spare may have told meanwhile that the tool is not what was pinned. */
  #serveNext(request: CallRequest, sink: RoutedSink): CallHandle | undefined {
    return refuse(this.#on.vetting, request, sink) ? undefined : this.#serve(request, sink);
  }

  /** Starting a process takes the daemon some milliseconds, which this call should not have to wait for. */
  #refillSoon(): void {
    if (this.#spec.spares === 0 || this.#soon !== undefined) return;
    this.#soon = this.#around.clock.setTimeout(() => {
      this.#soon = undefined;
      this.#refill();
    }, SOON_MS);
  }

  #launch(): OneShot {
    this.incarnation += 1;
    const id = `${this.#id}.${this.incarnation}`;
    const shot: OneShot = new OneShot(id, this.incarnation, this.#spec, this.#around, {
      ready: () => this.#rest(shot),
      listed: (reading) => {
        this.#on.listed(reading);
        shot.admit(reading);
        this.#rest(shot);
      },
      outdated: (list) => this.#on.outdated?.(list),
      toRead: () => this.#on.toRead(this.#on.vetting?.isStrict() === true),
      ended: (ending) => this.#ended(shot, ending),
      vetting: this.#on.vetting,
    });
    this.#shots.add(shot);
    this.newest = shot;
    shot.begin(this.#predecessor);
    return shot;
  }

  /** It was started for the lists alone, and they are known. */
  #rest(shot: OneShot): void {
    if (shot.isFree && this.#free.length > this.#spec.spares && !this.#on.wantsLists()) shot.stop();
    this.#tell();
  }

  /** A spare that failed is not replaced at once: the next try follows the restart policy's backoff, or an order. */
  #refill(): void {
    if (this.#refusal !== undefined || this.#retry.isSet) return;
    for (let missing = this.#spec.spares - this.#free.length; missing > 0; missing--) this.#launch();
  }

  #ended(shot: OneShot, ending: Ending): void {
    this.#shots.delete(shot);
    const isTold = ending.kind === 'disconnected' && ending.reason === 'stopped';
    if (isTold) this.#retry.forgive();
    if (this.#refusal !== undefined) this.lastStops.push(ending);
    if (ending.kind === 'error') {
      this.lastError = ending;
      this.failedAt = this.#around.clock.now();
    }
    while (this.#hasRoom && this.#queue.handOver((...call) => this.#serveNext(...call)));
    if (shot.isSpare && !isTold) this.#refillLater(ending);
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
    this.#around.clock.clearTimeout(this.#soon);
    this.#soon = undefined;
    this.#retry.clear();
    for (const shot of [...this.#shots]) shot.stop();
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
