import type { Clock } from '../../shared/clock.js';

/** The rungs of a stop, in the order they are climbed: end of input, TERM to the group, KILL to the group. */
export type StopStep = 'close' | 'term' | 'kill';

export interface StopSequenceWorld {
  clock: Clock;
  closeInput(): void;
  signal(signal: 'SIGTERM' | 'SIGKILL'): void;
  /** Whether anything of the group still runs; `thorough` sees through dead members that nobody collects. */
  groupRuns(thorough: boolean): boolean;
}

export interface StopSequenceEnd {
  /** The leader did not go by itself and had to be killed. */
  killed: boolean;
  /** False when something of the group outlived even KILL. */
  gone: boolean;
}

const ORDER: readonly StopStep[] = ['close', 'term', 'kill'];
/** How long helpers of a process that ended by itself have between TERM and KILL. */
const CRASH_GRACE_MS = 250;
/** What KILL has not removed by then sits in the kernel; nothing more can be done. */
const KILL_LIMIT_MS = 2000;
const FIRST_POLL_MS = 2;
const LONGEST_POLL_MS = 100;
/** The dead of a group are collected in no time on most machines; where they are not, the slower look begins here. */
const THOROUGH_POLL_MS = 32;

/**
 * Ends a process group. It is over only when the whole group is gone, not when its leader is: helpers that stayed get
 * TERM as soon as the leader has left, and KILL when their time is up. Orders only ever climb.
 */
export class StopSequence {
  readonly #world: StopSequenceWorld;
  readonly #stop: { closeMs: number; termMs: number };
  readonly #done: (end: StopSequenceEnd) => void;
  #step: StopStep | undefined;
  #timer: unknown;
  #poll: unknown;
  #pollMs = FIRST_POLL_MS;
  #leaderGone = false;
  #killed = false;
  #over = false;

  constructor(
    world: StopSequenceWorld,
    stop: { closeMs: number; termMs: number },
    done: (end: StopSequenceEnd) => void,
  ) {
    this.#world = world;
    this.#stop = stop;
    this.#done = done;
  }

  /** The rung that was reached; undefined before any order. */
  get step(): StopStep | undefined {
    return this.#step;
  }

  /** Goes up to this rung at once; the later ones follow in their time. */
  begin(step: StopStep): void {
    if (!this.#over && height(step) > height(this.#step)) this.#climb(step, this.#stop.termMs);
  }

  /** The leader has exited: by itself, or because of us. */
  leaderExited(): void {
    if (this.#over || this.#leaderGone) return;
    this.#leaderGone = true;
    const asked = this.#step;
    if (this.#check()) return;
    if (asked === undefined) this.#climb('term', Math.min(this.#stop.termMs, CRASH_GRACE_MS));
    else if (asked === 'close') this.#climb('term', this.#stop.termMs);
    this.#pollAgain();
  }

  #climb(step: StopStep, termMs: number): void {
    const { clock } = this.#world;
    clock.clearTimeout(this.#timer);
    if (this.#step === undefined) this.#world.closeInput();
    this.#step = step;
    if (step === 'close')
      this.#timer = clock.setTimeout(() => this.#climb('term', termMs), this.#stop.closeMs);
    else if (step === 'term') {
      this.#world.signal('SIGTERM');
      this.#timer = clock.setTimeout(() => this.#climb('kill', termMs), termMs);
    } else {
      this.#killed = !this.#leaderGone;
      this.#world.signal('SIGKILL');
      this.#timer = clock.setTimeout(() => this.#finish(false), KILL_LIMIT_MS);
    }
  }

  #pollAgain(): void {
    this.#poll = this.#world.clock.setTimeout(() => {
      if (!this.#check()) this.#pollAgain();
    }, this.#pollMs);
    this.#pollMs = Math.min(this.#pollMs * 2, LONGEST_POLL_MS);
  }

  #check(): boolean {
    if (this.#over) return true;
    if (this.#world.groupRuns(this.#pollMs >= THOROUGH_POLL_MS)) return false;
    this.#finish(true);
    return true;
  }

  #finish(gone: boolean): void {
    this.#over = true;
    this.#world.clock.clearTimeout(this.#timer);
    this.#world.clock.clearTimeout(this.#poll);
    this.#done({ killed: this.#killed, gone });
  }
}

function height(step: StopStep | undefined): number {
  return step === undefined ? -1 : ORDER.indexOf(step);
}
