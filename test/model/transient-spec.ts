/**
 * What the pool of a transient server owes, written down a second time and in another way: no states, only lists of
 * processes and calls, and rules. It shares no code with src/machines, so a mistake would have to be made twice to go
 * unnoticed.
 */
export interface TransientLimits {
  spares: number;
  maxInFlight: number;
  backoff: { minMs: number; maxMs: number; factor: number };
}

interface Life {
  number: number;
  isReady: boolean;
  isDead: boolean;
  call: number | undefined;
  hadCall: boolean;
  isGoing: boolean;
}

const REFILL_MS = 50;

export class TransientSpec {
  now = 0;
  isOff = false;
  lives: Life[] = [];
  waiting: number[] = [];
  readonly routes = new Map<number, number>();
  refused = 0;
  begun = 0;
  retryAt: number | undefined;
  refillAt: number | undefined;
  #calls = 0;
  #failures = 0;
  readonly #limits: TransientLimits;

  constructor(limits: TransientLimits) {
    this.#limits = limits;
  }

  /** Those that can take a call, the ready ones first. */
  get free(): Life[] {
    const free = this.lives.filter(({ hadCall, isGoing, isDead }) => !hadCall && !isGoing && !isDead);
    return [...free.filter(({ isReady }) => isReady), ...free.filter(({ isReady }) => !isReady)];
  }

  start(): void {
    this.isOff = false;
    this.retryAt = undefined;
    this.#fill();
  }

  stop(): void {
    this.isOff = true;
    this.refused += this.waiting.splice(0).length;
    this.#clear();
  }

  restart(): void {
    this.#clear();
    this.start();
  }

  reset(): void {
    this.#failures = 0;
    this.retryAt = undefined;
    if (!this.isOff) this.#fill();
  }

  discover(): void {
    if (!this.isOff && this.free.length === 0) this.#begin();
  }

  call(): void {
    if (this.isOff) {
      this.refused += 1;
      return;
    }
    this.#calls += 1;
    this.waiting.push(this.#calls);
    this.#serve();
  }

  settle(number: number): void {
    const life = this.#life(number);
    if (life?.call === undefined) return;
    life.call = undefined;
    life.isGoing = true;
  }

  /** Its handshake is done, and it has read what it was to read. */
  ready(number: number): void {
    const life = this.#life(number);
    if (life === undefined || life.isGoing) return;
    life.isReady = true;
    if (this.free.includes(life) && this.free.length > this.#limits.spares) life.isGoing = true;
  }

  dies(number: number): void {
    const life = this.#life(number);
    if (life !== undefined) life.isDead = true;
  }

  /** Nothing of it is left. */
  ends(number: number, how: 'as told' | 'failure' | 'hopeless' | 'bad close'): void {
    const life = this.#life(number);
    if (life === undefined) return;
    this.lives = this.lives.filter((one) => one !== life);
    if (how === 'as told') this.#failures = 0;
    const isFailedSpare = !life.hadCall && !life.isGoing && this.#limits.spares > 0;
    if (!this.isOff && isFailedSpare && this.retryAt === undefined) {
      this.refillAt = undefined;
      if (how !== 'hopeless') this.#wait();
    } else if (!isFailedSpare && !this.isOff) this.#fill();
    this.#serve();
  }

  /** Time passes; what is due on the way happens on the way. */
  pass(ms: number): void {
    const end = this.now + ms;
    for (let due = this.#due(); due <= end; due = this.#due()) {
      this.now = due;
      if (this.retryAt === due) this.retryAt = undefined;
      this.refillAt = undefined;
      this.#fill();
    }
    this.now = end;
  }

  #due(): number {
    return Math.min(this.retryAt ?? Number.POSITIVE_INFINITY, this.refillAt ?? Number.POSITIVE_INFINITY);
  }

  #life(number: number): Life | undefined {
    return this.lives.find((life) => life.number === number);
  }

  #begin(): Life {
    this.begun += 1;
    const life: Life = {
      number: this.begun,
      isReady: false,
      isDead: false,
      call: undefined,
      hadCall: false,
      isGoing: false,
    };
    this.lives.push(life);
    return life;
  }

  #fill(): void {
    if (this.retryAt !== undefined) return;
    this.refillAt = undefined;
    while (this.free.length < this.#limits.spares) this.#begin();
  }

  #serve(): void {
    while (this.waiting.length > 0 && this.lives.length - this.free.length < this.#limits.maxInFlight) {
      const life = this.free[0] ?? this.#begin();
      life.hadCall = true;
      life.call = this.waiting.shift()!;
      this.routes.set(life.call, life.number);
      if (this.#limits.spares > 0 && this.retryAt === undefined) this.refillAt ??= this.now + REFILL_MS;
    }
  }

  #wait(): void {
    const { minMs, maxMs, factor } = this.#limits.backoff;
    let delayMs = minMs;
    for (let step = 0; step < this.#failures; step += 1) delayMs = Math.min(maxMs, delayMs * factor);
    this.#failures += 1;
    this.retryAt = this.now + Math.ceil(Math.min(maxMs, delayMs));
  }

  #clear(): void {
    this.retryAt = undefined;
    this.refillAt = undefined;
    for (const life of this.lives) {
      life.call = undefined;
      life.isGoing = true;
    }
  }
}
