/** The keeper's events, emitted events, context and delays. */
import type { ActorRefFrom } from 'xstate';
import type { PermitReport } from './permit.js';
import { timerMs } from './restart/durations.js';
import type { Ending, Failed } from './restart/ending.js';
import type { History, RestartPolicy, Verdict } from './restart/restart-policy.js';
import type { ServerMachine } from './server.js';
import type { ServerReport, ServerSettings } from './server-context.js';

export type KeeperOrder = { type: 'start' } | { type: 'stop' } | { type: 'restart' } | { type: 'reset' };

export type KeeperEvent =
  | KeeperOrder
  | { type: 'call.waiting' }
  | PermitReport
  | ServerReport
  /** Raised by the keeper itself, once an ending was read: each state says what follows in it. */
  | { type: 'ending.noted' }
  | { type: 'xstate.error.actor.permit'; error: unknown }
  | { type: `xstate.done.actor.server.${number}`; output: Ending }
  | { type: `xstate.error.actor.server.${number}`; error: unknown };

/** For the journal, and for the calls that waited: `connected` tells a crash from a failed start. */
export type IncarnationReport = {
  type: 'incarnation.ended';
  incarnation: number;
  ending: Ending;
  connected: boolean;
};

/** `hold.ended`: from now on a call makes the next try at once. */
export type KeeperReport = IncarnationReport | { type: 'hold.ended' };

export interface KeeperInput {
  policy: RestartPolicy;
  server: ServerSettings;
  /** Milliseconds of a clock that never goes back. */
  now: () => number;
  /** In [0, 1). */
  random: () => number;
  /** Whether it was connected with this config before the keeper began. Asked when a first connection fails. */
  wasConnected?: () => boolean;
}

/**
 * What an incarnation was started by. Only those started by the policy count as restarts. `trial`: `call.waiting` after the
 * cool-down of a quarantine.
 */
export type StartedBy = 'order' | 'call' | 'policy' | 'trial';

export interface KeeperContext extends KeeperInput {
  /** The newest incarnation's number; 0 = there was none yet. */
  incarnation: number;
  /** The newest incarnation. It stays here after its end, so that its last state can be shown. */
  incumbent: ActorRefFrom<ServerMachine> | undefined;
  startedBy: StartedBy;
  connectedAt: number | undefined;
  history: History;
  /** Restarts since the keeper began. */
  restarts: number;
  lastEnding: Ending | undefined;
  /** The policy's decision about the last ending. */
  verdict: Verdict;
  lastError: Failed | undefined;
  /** By the clock of `now`; undefined unless waiting. */
  nextRetryAt: number | undefined;
  /** From when on a call makes the next try at once; undefined unless waiting or quarantined. */
  callableAt: number | undefined;
  /** Why it was given up; undefined unless quarantined. */
  quarantineReason: string | undefined;
}

/** Every delay of the machine. One that is missing here would fire at once; a test compares both sides. */
export const keeperDelays = {
  backoff: ({ context }: { context: KeeperContext }) => timerMs((context.nextRetryAt ?? 0) - context.now()),
  hold: ({ context }: { context: KeeperContext }) => timerMs((context.callableAt ?? 0) - context.now()),
};
