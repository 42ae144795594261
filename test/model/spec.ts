/**
 * What a keeper owes the world, written down a second time and in another way: no states, no machine, only a log of
 * what happened and rules that read it from the beginning. It shares no code with src/machines, so a mistake would have
 * to be made twice to go unnoticed.
 */
import type { RestartPolicy } from '../../src/machines/restart/restart-policy.js';

export type Death = 'wanted' | 'bad close' | 'clean' | 'failure' | 'doubtful' | 'hopeless' | 'unauthorised';

type Fact =
  | { what: 'let go'; at: number; uncalledFor: boolean }
  | { what: 'handshake'; at: number }
  | { what: 'death'; at: number; how: Death; lived: number | undefined }
  | { what: 'given up'; at: number }
  | { what: 'forgiven'; at: number };

/** A life that has begun and not yet ended. */
interface Life {
  uncalledFor: boolean;
  /** A call tried what had been given up. */
  isLastChance: boolean;
  letGoAt: number | undefined;
  handshakeAt: number | undefined;
  /** It is going: as what, and when it will be killed at the latest. */
  going: { how: Death; killAt: number } | undefined;
}

export interface Limits {
  startMs: number;
  closeMs: number;
}

export class Spec {
  now = 0;
  mood: 'asleep' | 'awake' | 'waiting' | 'given up' | 'locked out' | 'switched off' = 'asleep';
  life: Life | undefined;
  /** What follows the present life, if not for the policy to say. */
  then: 'policy' | 'nothing' | 'another' = 'policy';
  called = false;
  retryAt: number | undefined;
  /** From when on a call makes the next try. */
  callableAt: number | undefined;
  lives = 0;
  readonly log: Fact[] = [];
  readonly #policy: RestartPolicy;
  readonly #limits: Limits;

  constructor(policy: RestartPolicy, limits: Limits) {
    this.#policy = policy;
    this.#limits = limits;
  }

  start(): void {
    if (this.then === 'nothing') this.then = 'another';
    else if (!this.life) this.#begin(false);
  }

  stop(): void {
    if (this.life) this.#leave('wanted', 'nothing');
    else this.#rest('switched off');
  }

  restart(): void {
    if (this.life) this.#leave('wanted', 'another');
    else this.#begin(false);
  }

  reset(): void {
    this.log.push({ what: 'forgiven', at: this.now });
    if (['waiting', 'given up', 'locked out'].includes(this.mood)) this.#begin(false);
  }

  call(): void {
    if (this.mood === 'asleep') this.#begin(false);
    else if (this.mood === 'waiting' && this.now >= (this.callableAt ?? 0)) this.#begin(true);
    else if (this.mood === 'given up' && this.now >= (this.callableAt ?? 0)) this.#begin(false, true);
    else if (this.life?.handshakeAt !== undefined && this.then === 'policy') this.called = true;
  }

  /** A permit was granted. */
  letGo(): void {
    const { life } = this;
    if (!life || life.letGoAt !== undefined) return;
    life.letGoAt = this.now;
    this.log.push({ what: 'let go', at: this.now, uncalledFor: life.uncalledFor });
  }

  handshake(): void {
    if (
      !this.life ||
      this.life.letGoAt === undefined ||
      this.life.handshakeAt !== undefined ||
      this.life.going
    )
      return;
    this.life.handshakeAt = this.now;
    this.log.push({ what: 'handshake', at: this.now });
  }

  /** It begins to go, for this reason, unless it is going already. */
  goes(how: Death): void {
    if (this.life && !this.life.going) this.life.going = { how, killAt: this.now + this.#limits.closeMs };
  }

  /** It is gone: for the reason it was going for, or else for this one. */
  dies(how: Death): void {
    if (!this.life) return;
    const { going, handshakeAt, isLastChance } = this.life;
    const lived = handshakeAt === undefined ? undefined : this.now - handshakeAt;
    const cause = going === undefined || (going.how === 'wanted' && how === 'bad close') ? how : going.how;
    this.log.push({ what: 'death', at: this.now, how: cause, lived });
    const { then, called } = this;
    this.life = undefined;
    this.then = 'policy';
    this.called = false;
    if (then === 'nothing') this.#rest('switched off');
    else if (then === 'another') this.#begin(false);
    else this.#decide(cause, called, isLastChance && (lived ?? 0) < this.#policy.healthyAfterMs);
  }

  /** Time passes; what is due on the way happens on the way. */
  pass(ms: number): void {
    const end = this.now + ms;
    for (let due = this.#nextDue(); due !== undefined && due <= end; due = this.#nextDue()) {
      this.now = due;
      if (this.retryAt !== undefined) this.#begin(true);
      else if (this.life?.going) this.dies(this.life.going.how);
      else this.goes('failure');
    }
    this.now = end;
  }

  /** Restarts without an order or a call, since the last reset. */
  uncalledFor(): number[] {
    return this.#sinceForgiven().flatMap((fact) =>
      fact.what === 'let go' && fact.uncalledFor ? [fact.at] : [],
    );
  }

  failedStartsInARow(): number {
    let row = 0;
    for (const fact of this.#sinceForgiven()) {
      if (fact.what === 'handshake') row = 0;
      if (
        fact.what === 'death' &&
        fact.lived === undefined &&
        ['failure', 'doubtful', 'hopeless'].includes(fact.how)
      )
        row += 1;
    }
    return row;
  }

  /** Restarts since it was last seen healthy. */
  streak(): number {
    let streak = 0;
    for (const fact of this.#sinceForgiven()) {
      if (fact.what === 'let go' && fact.uncalledFor) streak += 1;
      if (fact.what === 'death' && (fact.lived ?? -1) >= this.#policy.healthyAfterMs) streak = 0;
    }
    return streak;
  }

  /** How often it was given up since it was last seen healthy. */
  givenUp(): number {
    let times = 0;
    for (const fact of this.#sinceForgiven()) {
      if (fact.what === 'given up') times += 1;
      if (fact.what === 'death' && (fact.lived ?? -1) >= this.#policy.healthyAfterMs) times = 0;
    }
    return times;
  }

  #decide(how: Death, called: boolean, wasLastChance: boolean): void {
    const { restart, maxRestarts } = this.#policy;
    const hasFailed = how === 'failure' || how === 'doubtful';
    const comesBack = (hasFailed && restart !== 'never') || (how === 'clean' && restart === 'always');
    const tooOften = hasFailed && this.failedStartsInARow() >= maxRestarts + 1;
    const wasThere = this.log.some(({ what }) => what === 'handshake');
    if (how === 'unauthorised') this.#rest('locked out');
    else if (how === 'hopeless' || tooOften || (hasFailed && wasLastChance)) this.#giveUp();
    else if (comesBack) this.#comeBack(how === 'doubtful' && !wasThere);
    else if (called) this.#begin(false);
    else this.#rest('asleep');
  }

  #comeBack(isWrong: boolean): void {
    const { maxRestarts, restartWindowMs, backoff } = this.#policy;
    const recent = this.uncalledFor().filter((at) => this.now - at <= restartWindowMs);
    const hasFailedToStart = this.failedStartsInARow() > 0;
    const streak = Math.max(this.streak(), hasFailedToStart ? 1 : 0);
    if (recent.length >= maxRestarts) this.#giveUp();
    else if (isWrong) this.#wait(Math.max(1000, backoff.maxMs * 10));
    else if (streak === 0) this.#begin(true);
    else {
      let delayMs = backoff.minMs;
      for (let step = 1; step < streak; step += 1)
        delayMs = Math.min(backoff.maxMs, delayMs * backoff.factor);
      this.#wait(Math.min(backoff.maxMs, delayMs));
    }
  }

  #wait(ms: number): void {
    this.mood = 'waiting';
    this.retryAt = this.now + Math.ceil(ms);
    this.callableAt = this.now + Math.ceil(this.#policy.backoff.maxMs / 3);
  }

  #giveUp(): void {
    this.log.push({ what: 'given up', at: this.now });
    this.#rest('given up');
    let ms = Math.max(1000, this.#policy.backoff.maxMs);
    for (let time = 2; time <= Math.min(6, this.givenUp()); time += 1) ms *= 2;
    this.callableAt = this.now + ms;
  }

  #begin(uncalledFor: boolean, isLastChance = false): void {
    this.mood = 'awake';
    this.retryAt = undefined;
    this.lives += 1;
    this.life = { uncalledFor, isLastChance, letGoAt: undefined, handshakeAt: undefined, going: undefined };
  }

  #rest(mood: Spec['mood']): void {
    this.mood = mood;
    this.retryAt = undefined;
  }

  #leave(how: Death, then: Spec['then']): void {
    this.then = then;
    this.called = false;
    if (this.life?.letGoAt === undefined) this.dies(how);
    else this.goes(how);
  }

  #nextDue(): number | undefined {
    if (this.retryAt !== undefined) return this.retryAt;
    const { letGoAt, handshakeAt, going } = this.life ?? {};
    if (going) return going.killAt;
    return letGoAt !== undefined && handshakeAt === undefined ? letGoAt + this.#limits.startMs : undefined;
  }

  #sinceForgiven(): Fact[] {
    return this.log.slice(this.log.findLastIndex((fact) => fact.what === 'forgiven') + 1);
  }
}
