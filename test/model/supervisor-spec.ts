/**
 * What a herd owes its callers, written down a second time and without a machine: who lives, who waits, who is told
 * what. It shares no code with src, so a mistake would have to be made twice to go unnoticed.
 */
import type { RestartPolicy } from '../../src/machines/restart/restart-policy.js';

export interface Limits {
  startMs: number;
  closeMs: number;
}

/**
 * How a life ends: as it was told to, by a crash, with exit code 0, not started (for now, perhaps by a wrong config, for
 * ever), never answered.
 */
export type Death = 'told' | 'crash' | 'clean' | 'unstarted' | 'doubtful' | 'hopeless' | 'mute';

const DRAIN_MS = 10_000;

/** Error type and whether the request had been written; `ok` for a result. */
export type Told = string;

export interface SpecCall {
  mark: string;
  /** Which life it was written to. */
  life: Life | undefined;
  told: Told | undefined;
}

export interface Life {
  number: number;
  isRestart: boolean;
  /** A quarantined server was tried. */
  isLastChance: boolean;
  begunAt: number | undefined;
  handshakeAt: number | undefined;
  /** It is on its way out: as what, and when it is killed at the latest. */
  going: { as: Death; killAt: number } | undefined;
  /** Its process is dead, and the machines do not know yet. */
  isLost: boolean;
}

const lastWords: Record<Death, string> = {
  told: 'ServerUnavailableError',
  clean: 'ServerUnavailableError',
  crash: 'ServerCrashedError',
  unstarted: 'ServerUnavailableError',
  doubtful: 'ServerUnavailableError',
  hopeless: 'ServerUnavailableError',
  mute: 'MCPTimeoutError',
};

export class ServerSpec {
  readonly policy: RestartPolicy;
  readonly calls: SpecCall[] = [];
  mood: 'idle' | 'running' | 'waiting' | 'quarantined' | 'stopped' = 'idle';
  life: Life | undefined;
  lives = 0;
  retryAt: number | undefined;
  /** From when on a call makes the next try. */
  callableAt = 0;
  restarts = 0;
  readonly #limits: Limits;
  readonly #now: () => number;
  /** Of the same name, from an older config: has to be gone first. */
  readonly #predecessor: ServerSpec | undefined;
  #then: 'policy' | 'nothing' | 'another' = 'policy';
  #isRecalled = false;
  #wasConnected = false;
  #wasEverConnected = false;
  #recent: number[] = [];
  #failedStarts = 0;
  #streak = 0;
  #quarantines = 0;
  /** Only a server that was connected has told what it offers. */
  #isListed = false;
  /** It left the config with calls in flight: until when they may end. */
  #drainsUntil: number | undefined;

  constructor(policy: RestartPolicy, limits: Limits, now: () => number, predecessor?: ServerSpec) {
    this.policy = policy;
    this.#limits = limits;
    this.#now = now;
    this.#predecessor = predecessor;
  }

  /** Calls pass. */
  get isOpen(): boolean {
    return this.life?.handshakeAt !== undefined && !this.life.going && !this.life.isLost;
  }

  get isGone(): boolean {
    return this.life === undefined && (this.#predecessor?.isGone ?? true);
  }

  get waitingCalls(): SpecCall[] {
    return this.calls.filter(({ life, told }) => life === undefined && told === undefined);
  }

  get inFlight(): SpecCall[] {
    return this.calls.filter(
      ({ life, told }) => life !== undefined && life === this.life && told === undefined,
    );
  }

  start(): void {
    if (this.#then === 'nothing') this.#then = 'another';
    else if (!this.life) this.#begin(false);
  }

  stop(): void {
    if (this.life) this.#sendAway('nothing');
    else {
      this.#rest('stopped');
      this.#tellWaiting();
    }
  }

  /** Its config is gone. */
  retire(): void {
    if (this.inFlight.length === 0) {
      this.stop();
      return;
    }
    this.#drainsUntil = this.#now() + DRAIN_MS;
    this.#tell(this.waitingCalls, lastWords.told, false);
  }

  /** An order to its successor: what it replaces gets no more time. */
  endDrains(): void {
    this.#predecessor?.endDrains();
    if (this.#drainsUntil === undefined) return;
    this.#drainsUntil = undefined;
    this.stop();
  }

  restart(): void {
    if (this.life) this.#sendAway('another');
    else this.#begin(false);
  }

  reset(): void {
    this.#recent = [];
    this.#failedStarts = 0;
    this.#streak = 0;
    this.#quarantines = 0;
    if (this.mood === 'waiting' || this.mood === 'quarantined') this.#begin(false);
  }

  /** It came to a herd that runs: it is asked what it offers. */
  discover(): void {
    if (this.mood === 'idle') this.#begin(false);
  }

  call(mark: string): SpecCall {
    const call: SpecCall = { mark, life: undefined, told: undefined };
    this.calls.push(call);
    if (this.isOpen) call.life = this.life;
    else if (this.#refuses) call.told = 'ServerUnavailableError false';
    else if (this.mood === 'idle') this.#begin(false);
    else if (this.#isCallable) this.#begin(this.mood === 'waiting', this.mood === 'quarantined');
    else if (this.life?.handshakeAt !== undefined && this.#then === 'policy') this.#isRecalled = true;
    return call;
  }

  cancel(call: SpecCall): void {
    call.told ??= `CancelledError ${call.life !== undefined}`;
  }

  answer(): void {
    const [oldest] = this.life?.isLost ? [] : this.inFlight;
    if (oldest) oldest.told = 'ok';
  }

  /** It gets its permit, if it waits for one and one is free. */
  proceed(): void {
    const { life } = this;
    if (!life || life.begunAt !== undefined || !(this.#predecessor?.isGone ?? true)) return;
    life.begunAt = this.#now();
    if (!life.isRestart) return;
    this.restarts += 1;
    this.#streak += 1;
    this.#recent.push(this.#now());
  }

  handshake(): void {
    const { life } = this;
    if (life?.begunAt === undefined || life.handshakeAt !== undefined || life.going || life.isLost) return;
    life.handshakeAt = this.#now();
    this.#isListed = true;
    for (const call of this.waitingCalls) call.life = life;
  }

  /** Its process is dead; something that it started is still there. */
  isLost(): void {
    if (this.life?.begunAt === undefined || this.life.isLost) return;
    this.#tell(this.inFlight, lastWords.crash, true);
    this.life.isLost = true;
  }

  /** Nothing is left of it. */
  dies(as: Death): void {
    const { life } = this;
    if (life === undefined) return;
    this.#tell(this.inFlight, lastWords[as], true);
    const { going, handshakeAt, isLastChance } = life;
    const cause = going?.as ?? (handshakeAt === undefined && as === 'clean' ? 'crash' : as);
    this.life = undefined;
    this.#wasConnected = handshakeAt !== undefined;
    this.#remember(cause, handshakeAt);
    if (handshakeAt === undefined && cause !== 'told') this.#tell(this.waitingCalls, lastWords[cause], false);
    const then = this.#drainsUntil === undefined ? this.#then : 'nothing';
    this.#drainsUntil = undefined;
    const isRecalled = this.#isRecalled;
    this.#then = 'policy';
    this.#isRecalled = false;
    if (then === 'nothing') this.#rest('stopped');
    else if (then === 'another') this.#begin(false);
    else this.#decide(cause, isRecalled, isLastChance && !this.#isHealthySince(handshakeAt));
    this.#tellWaiting();
  }

  /** When the next timer fires. */
  get dueAt(): number | undefined {
    // a call that waits makes the next try as soon as a new one could
    if (this.retryAt !== undefined)
      return this.waitingCalls.length > 0 ? Math.min(this.retryAt, this.callableAt) : this.retryAt;
    if (this.mood === 'quarantined' && this.policy.restart !== 'never' && !this.#isListed)
      return this.callableAt;
    const { begunAt, handshakeAt, going } = this.life ?? {};
    if (going) return going.killAt;
    if (this.#drainsUntil !== undefined) return this.#drainsUntil;
    return begunAt !== undefined && handshakeAt === undefined ? begunAt + this.#limits.startMs : undefined;
  }

  falls(): void {
    if (this.retryAt !== undefined) this.#begin(true);
    else if (this.mood === 'quarantined') this.#begin(false, true);
    else if (this.#drainsUntil !== undefined && !this.life?.going) {
      this.#drainsUntil = undefined;
      this.#tell(this.inFlight, lastWords.told, true);
      this.stop();
    } else if (this.life?.going) this.dies('told');
    else this.#go('mute');
  }

  /** I3: no window holds more restarts than the policy allows. */
  get isDense(): boolean {
    const { maxRestarts, restartWindowMs } = this.policy;
    return this.#recent.some(
      (from) => this.#recent.filter((at) => at >= from && at <= from + restartWindowMs).length > maxRestarts,
    );
  }

  get #refuses(): boolean {
    if (this.mood === 'waiting') return !this.#wasConnected && !this.#isCallable;
    return this.mood === 'stopped' || (this.mood === 'quarantined' && !this.#isCallable);
  }

  get #isCallable(): boolean {
    return ['waiting', 'quarantined'].includes(this.mood) && this.#now() >= this.callableAt;
  }

  #tellWaiting(): void {
    if (this.#refuses) this.#tell(this.waitingCalls, 'ServerUnavailableError', false);
  }

  #tell(calls: readonly SpecCall[], type: string, sent: boolean): void {
    for (const call of calls) call.told = `${type} ${sent}`;
  }

  #begin(isRestart: boolean, isLastChance = false): void {
    this.mood = 'running';
    this.retryAt = undefined;
    this.lives += 1;
    const none = { begunAt: undefined, handshakeAt: undefined, going: undefined, isLost: false };
    this.life = { number: this.lives, isRestart, isLastChance, ...none };
  }

  #rest(mood: ServerSpec['mood']): void {
    this.mood = mood;
    this.retryAt = undefined;
  }

  #sendAway(then: 'nothing' | 'another'): void {
    this.#then = then;
    this.#isRecalled = false;
    if (this.life?.begunAt === undefined) this.dies('told');
    else this.#go('told');
  }

  #go(as: Death): void {
    if (this.life && !this.life.going) this.life.going = { as, killAt: this.#now() + this.#limits.closeMs };
  }

  #remember(cause: Death, handshakeAt: number | undefined): void {
    if (handshakeAt === undefined) this.#failedStarts += cause === 'told' ? 0 : 1;
    else {
      this.#failedStarts = 0;
      this.#wasEverConnected = true;
      if (!this.#isHealthySince(handshakeAt)) return;
      this.#streak = 0;
      this.#quarantines = 0;
    }
  }

  #isHealthySince(handshakeAt: number | undefined): boolean {
    return handshakeAt !== undefined && this.#now() - handshakeAt >= this.policy.healthyAfterMs;
  }

  #decide(cause: Death, isRecalled: boolean, wasLastChance: boolean): void {
    const { restart, maxRestarts, restartWindowMs, backoff } = this.policy;
    const isFailure = cause !== 'told' && cause !== 'clean';
    const comesBack = restart === 'always' ? cause !== 'told' : restart === 'on-failure' && isFailure;
    const recent = this.#recent.filter((at) => this.#now() - at <= restartWindowMs).length;
    if (cause === 'hopeless' || (isFailure && this.#failedStarts > maxRestarts)) this.#giveUp();
    else if (isFailure && wasLastChance) this.#giveUp();
    else if (comesBack && recent >= maxRestarts) this.#giveUp();
    else if (comesBack && cause === 'doubtful' && !this.#wasEverConnected)
      this.#wait(Math.max(1000, backoff.maxMs * 10));
    else if (comesBack && this.#streak === 0 && this.#failedStarts === 0) this.#begin(true);
    else if (comesBack) {
      this.#wait(Math.min(backoff.maxMs, backoff.minMs * backoff.factor ** Math.max(0, this.#streak - 1)));
    } else if (isRecalled) this.#begin(false);
    else this.#rest('idle');
  }

  #giveUp(): void {
    this.#rest('quarantined');
    this.callableAt =
      this.#now() + Math.max(1000, this.policy.backoff.maxMs) * 2 ** Math.min(5, this.#quarantines);
    this.#quarantines += 1;
  }

  #wait(ms: number): void {
    this.#rest('waiting');
    this.retryAt = this.#now() + Math.ceil(ms);
    this.callableAt = this.#now() + Math.ceil(this.policy.backoff.maxMs / 3);
  }
}
