import type { Clock } from '../shared/clock.js';

/** The steps of a stop, in order: end of input, TERM to the group, KILL to the group. */
export type StopStep = 'close' | 'term' | 'kill';

export interface StopSequenceWorld {
  clock: Clock;
  closeInput(): void;
  signal(signal: 'SIGTERM' | 'SIGKILL'): void;
  /** Whether any process of the group still runs; `thorough` ignores zombies that are not reaped. */
  groupRuns(thorough: boolean): boolean;
}

export interface StopSequenceEnd {
  /** The leader did not exit in time and was killed. */
  killed: boolean;
  /** False when a process of the group survived KILL. */
  gone: boolean;
}

/** `running`: before any order. `over`: the group is gone, or has survived KILL. */
type StopState = 'running' | StopStep | 'over';

const ORDER: readonly StopState[] = ['running', 'close', 'term', 'kill', 'over'];
/** The time between TERM and KILL for helpers of a leader that exited without an order. */
const CRASH_GRACE_MS = 250;
/** A process that survives KILL for this long hangs in the kernel; nothing more can be done. */
const KILL_LIMIT_MS = 2000;
const FIRST_POLL_MS = 2;
const LONGEST_POLL_MS = 100;
/** Zombies are reaped at once on most machines; where they are not, the slower check begins at this interval. */
const THOROUGH_POLL_MS = 32;

/**
 * Ends a process group. It is done only when the whole group is gone, not when its leader is: remaining helpers get TERM
 * as soon as the leader has exited, and KILL when their time is up. It never goes back to an earlier step.
 */
export class StopSequence {
  readonly #world: StopSequenceWorld;
  readonly #stop: { closeMs: number; termMs: number };
  readonly #done: (end: StopSequenceEnd) => void;
  #state: StopState = 'running';
  #timer: unknown;
  #poll: unknown;
  #pollMs = FIRST_POLL_MS;
  #leaderGone = false;
  #killed = false;

  constructor(
    world: StopSequenceWorld,
    stop: { closeMs: number; termMs: number },
    done: (end: StopSequenceEnd) => void,
  ) {
    this.#world = world;
    this.#stop = stop;
    this.#done = done;
  }

  /** Begins this step at once, unless it was reached before; the later ones follow in their time. */
  begin(step: StopStep): void {
    if (ORDER.indexOf(step) > ORDER.indexOf(this.#state)) this.#enter(step, this.#stop.termMs);
  }

  /** The leader has exited, with or without an order. */
  leaderExited(): void {
    if (this.#state === 'over' || this.#leaderGone) return;
    this.#leaderGone = true;
    const reached = this.#state;
    if (this.#check()) return;
    if (reached === 'running') this.#enter('term', Math.min(this.#stop.termMs, CRASH_GRACE_MS));
    else if (reached === 'close') this.#enter('term', this.#stop.termMs);
    this.#pollAgain();
  }

  #enter(step: StopStep, termMs: number): void {
    const { clock } = this.#world;
    clock.clearTimeout(this.#timer);
    if (this.#state === 'running') this.#world.closeInput();
    this.#state = step;
    if (step === 'close')
      this.#timer = clock.setTimeout(() => this.#enter('term', termMs), this.#stop.closeMs);
    else if (step === 'term') {
      this.#world.signal('SIGTERM');
      this.#timer = clock.setTimeout(() => this.#enter('kill', termMs), termMs);
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
    if (this.#state === 'over') return true;
    if (this.#world.groupRuns(this.#pollMs >= THOROUGH_POLL_MS)) return false;
    this.#finish(true);
    return true;
  }

  #finish(gone: boolean): void {
    this.#state = 'over';
    this.#world.clock.clearTimeout(this.#timer);
    this.#world.clock.clearTimeout(this.#poll);
    this.#done({ killed: this.#killed, gone });
  }
}
