/** The transient machine's events, decisions, context and delays. */

import type { KeeperOrder } from './keeper-context.js';
import type { StartPurpose } from './permit.js';
import { timerMs } from './restart/durations.js';
import type { Ending, Failed } from './restart/ending.js';
import type { Backoff } from './restart/restart-policy.js';

export type TransientOrder = KeeperOrder;

/** `process`: the number of the incarnation, as the machine gave it with `launch`. */
export type TransientEvent =
  | TransientOrder
  | { type: 'drain' }
  | { type: 'discover'; purpose: StartPurpose }
  | { type: 'call.waiting' }
  | { type: 'call.settled'; process: number }
  | { type: 'call.gone'; process: number; listsWanted: boolean }
  | { type: 'process.ready'; process: number; listsWanted: boolean }
  | { type: 'process.ended'; process: number; ending: Ending };

/** What the machine has decided. The listener carries it out, and does not throw. */
export type TransientDecision =
  | { type: 'process.launch'; process: number; purpose: StartPurpose }
  | { type: 'process.serve'; process: number }
  | { type: 'process.finish'; process: number }
  | { type: 'process.stop'; process: number }
  | { type: 'lists.read'; purpose: StartPurpose }
  | { type: 'calls.refuse' };

/** `free`: it starts, or waits as a spare; it never had a call. `serving`: it has its one call. `leaving`: it has to go. */
export type ProcessPhase = 'free' | 'serving' | 'leaving';

/**
 * How soon a process can take a call. `later`: it starts, or its tools are being compared with their pins. `never`: it
 * has died, and its ending was not reported yet.
 */
export type Availability = 'now' | 'later' | 'never';

export interface TransientInput {
  /** How many processes wait for a call. */
  spares: number;
  /** How many processes may have a call at once. */
  maxInFlight: number;
  backoff: Backoff;
  /** Milliseconds of a clock that never goes back. */
  now: () => number;
  /** In [0, 1). */
  random: () => number;
  /** Asked when a process is chosen, so that a change of it costs no event. */
  availability: (process: number) => Availability;
}

export interface TransientContext extends TransientInput {
  /** The newest process's number; 0 = there was none yet. */
  incarnation: number;
  /** Every process that has not ended, oldest first. */
  processes: ReadonlyMap<number, ProcessPhase>;
  /** Spares that failed since the last process ended as it was told to. */
  failures: number;
  /** By the clock of `now`; undefined unless waiting. */
  nextRetryAt: number | undefined;
  lastError: Failed | undefined;
  /** How its processes ended since it was last told to stop. */
  lastStops: readonly Ending[];
}

/** Longer than most calls, shorter than a start. */
const REFILL_MS = 50;

/** Every delay of the machine. One that is missing here would fire at once; a test compares both sides. */
export const transientDelays = {
  refill: () => REFILL_MS,
  backoff: ({ context }: { context: TransientContext }) =>
    timerMs((context.nextRetryAt ?? 0) - context.now()),
};

/** The processes that can take a call, oldest first. */
export function freeProcesses({ processes, availability }: TransientContext): number[] {
  return [...processes.keys()].filter(
    (process) => processes.get(process) === 'free' && availability(process) !== 'never',
  );
}
