import type { StdioSpec } from '../config/spec.js';
import { CancelledError, type MCPError, OverloadedError, ServerUnavailableError } from '../link/errors.js';
import type { CallHandle, CallRequest, CallSink } from '../link/session/call.js';
import type { Ending, Failed } from '../machines/ending.js';
import { backoffMs } from '../machines/policy.js';
import type { Lists } from './lists.js';
import { OneShot } from './one-shot.js';
import type { Surroundings } from './surroundings.js';

/** A call that waits because as many processes run as may. */
interface Queued {
  request: CallRequest;
  sink: CallSink;
  /** Set when it is served: from then on its process has it. */
  handle?: CallHandle;
}

const MOST_WAITING = 10_000;

/**
 * A transient server: a fresh process for each call, gone after it. `spares` of them wait with their handshake done, so
 * that a call need not wait for a start. There are never more processes than calls in flight and spares (those that
 * are on their way out are not counted: they have no call and take none).
 */
export class Transients {
  readonly #spec: StdioSpec;
  readonly #id: string;
  readonly #around: Surroundings;
  readonly #on: { listed(lists: Lists): void; wantsLists(): boolean };
  readonly #shots = new Set<OneShot>();
  readonly #queue: Queued[] = [];
  #listing: OneShot | undefined;
  readonly #gone: (() => void)[] = [];
  #isStopped = false;
  #refillTimer: unknown;
  #failedSpares = 0;
  newest: OneShot | undefined;
  incarnation = 0;
  lastError: Failed | undefined;
  failedAt: number | undefined;
  lastStop: Ending | undefined;

  constructor(
    id: string,
    spec: StdioSpec,
    around: Surroundings,
    on: { listed(lists: Lists): void; wantsLists(): boolean },
  ) {
    this.#id = id;
    this.#spec = spec;
    this.#around = around;
    this.#on = on;
  }

  get detail(): 'idle' | 'running' | 'stopped' {
    if (this.#isStopped) return 'stopped';
    return this.#shots.size > 0 ? 'running' : 'idle';
  }

  get pids(): number[] {
    return [...this.#shots].flatMap((shot) => shot.pids);
  }

  get inFlight(): number {
    return [...this.#shots].reduce((sum, shot) => sum + shot.inFlight, 0);
  }

  /** Spares whose handshake is done. */
  get ready(): number {
    return [...this.#shots].filter((shot) => shot.isFree && shot.isReady).length;
  }

  send(request: CallRequest, sink: CallSink): CallHandle | undefined {
    const refusal = this.#refusal();
    if (refusal !== undefined) {
      sink.settle({ ok: false, error: refusal });
      return undefined;
    }
    const busy = [...this.#shots].filter((shot) => !shot.isFree).length;
    return busy < this.#spec.maxInFlight ? this.#serve(request, sink) : this.#enqueue({ request, sink });
  }

  /** Be ready: spares begin to wait. */
  start(): void {
    this.#isStopped = false;
    this.#refill();
  }

  stop(): void {
    this.#isStopped = true;
    this.#around.clock.clearTimeout(this.#refillTimer);
    this.#refillTimer = undefined;
    const error = this.#refusal();
    for (const { sink } of this.#queue.splice(0)) if (error) sink.settle({ ok: false, error });
    for (const shot of this.#shots) shot.stop();
  }

  whenGone(): Promise<void> {
    if (this.#shots.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#gone.push(resolve));
  }

  /** A process without a call, for its lists; it stays as a spare if one is wanted. Resolves with its ending. */
  wake(): Promise<Ending> | undefined {
    if (this.#isStopped) return undefined;
    const free = [...this.#shots].find((candidate) => candidate.isFree);
    if (free !== undefined) return free.ended;
    const shot = this.#launch();
    if (this.#spec.spares === 0) this.#listing = shot;
    return shot.ended;
  }

  #refusal(): MCPError | undefined {
    const { name } = this.#spec;
    if (this.#isStopped) {
      return new ServerUnavailableError(`${name}: was stopped`, { why: 'by order', fix: `toolherd start ${name}` });
    }
    if (this.#queue.length < MOST_WAITING) return undefined;
    return new OverloadedError(`${name}: ${MOST_WAITING} calls wait for it already`, { retryable: true });
  }

  #enqueue(queued: Queued): CallHandle {
    this.#queue.push(queued);
    const cancel = (reason = 'cancelled by the caller') => {
      if (queued.handle !== undefined) return queued.handle.cancel(reason);
      const place = this.#queue.indexOf(queued);
      if (place === -1) return;
      this.#queue.splice(place, 1);
      const error = new CancelledError(`${this.#spec.name}: the call was cancelled: ${reason}`);
      queued.sink.settle({ ok: false, error });
    };
    return { id: 0, cancel };
  }

  #serve(request: CallRequest, sink: CallSink): CallHandle {
    const free = [...this.#shots].filter((shot) => shot.isFree);
    const shot = free.find((candidate) => candidate.isReady) ?? free[0] ?? this.#launch();
    const handle = shot.take(request, sink);
    this.#refill();
    return handle;
  }

  #launch(): OneShot {
    this.incarnation += 1;
    const shot: OneShot = new OneShot(
      `${this.#id}.${this.incarnation}`,
      this.incarnation,
      this.#spec,
      this.#around,
      {
        ready: () => {
          this.#failedSpares = 0;
        },
        listed: (lists) => {
          this.#on.listed(lists);
          if (this.#listing === shot && shot.isFree) shot.stop();
        },
        wantsLists: () => this.#on.wantsLists(),
        ended: (ending) => this.#ended(shot, ending),
      },
    );
    this.#shots.add(shot);
    this.newest = shot;
    return shot;
  }

  /** A spare that failed is not replaced at once: the next try follows the restart policy's backoff, or a call. */
  #refill(): void {
    if (this.#isStopped || this.#refillTimer !== undefined) return;
    const free = [...this.#shots].filter((shot) => shot.isFree).length;
    for (let missing = this.#spec.spares - free; missing > 0; missing--) this.#launch();
  }

  #ended(shot: OneShot, ending: Ending): void {
    const wasSpare = shot.isSpare;
    this.#shots.delete(shot);
    if (ending.kind === 'error') {
      this.lastError = ending;
      this.failedAt = this.#around.clock.now();
    } else this.lastStop = ending;
    const next = this.#isStopped ? undefined : this.#queue.shift();
    if (next !== undefined) next.handle = this.#serve(next.request, next.sink);
    if (wasSpare && ending.kind === 'error') this.#refillLater();
    else this.#refill();
    if (this.#shots.size === 0) for (const resolve of this.#gone.splice(0)) resolve();
  }

  #refillLater(): void {
    if (this.#refillTimer !== undefined || this.#isStopped) return;
    const delay = backoffMs(this.#failedSpares + 1, this.#spec.backoff, this.#around.random());
    this.#failedSpares += 1;
    this.#refillTimer = this.#around.clock.setTimeout(() => {
      this.#refillTimer = undefined;
      this.#refill();
    }, delay);
  }
}
