import type { ServerSpec } from '../../config/schema/spec.js';
import type { Detail, LastError, ServerState } from '../../fleet/fleet.js';
import type { Opened } from '../../link/link.js';
import type { Failed } from '../../machines/restart/ending.js';
import { topName } from '../../machines/state-name.js';
import { MisconfiguredError } from '../errors.js';
import type { Replica } from './replica.js';
import type { TransientPool } from './transient-pool.js';

/** Why a server does not run: how its last incarnation ended, or what is wrong with its entry or its file. */
export interface Fault {
  cause: Failed['cause'] | 'config' | 'withdrawn';
  message: string;
  why?: string | undefined;
  fix?: string | undefined;
  problems?: LastError['problems'];
}

/** The state of a server at this moment. */
export interface ServerSnapshot {
  state: ServerState;
  detail: Detail;
  states: { server: string; keeper: string };
  pids: number[];
  incarnation: number;
  restarts: number;
  nextRetryAt: number | undefined;
  lastError: Fault | undefined;
  failedAt: number | undefined;
  inFlight: number;
  opened: Opened | undefined;
}

const DISABLED: ServerSnapshot = {
  state: 'created',
  detail: 'disabled',
  states: { server: 'created', keeper: 'disabled' },
  pids: [],
  incarnation: 0,
  restarts: 0,
  nextRetryAt: undefined,
  lastError: undefined,
  failedAt: undefined,
  inFlight: 0,
  opened: undefined,
};

/** Of a server that is only shown; undefined for any other. */
export function snapshotOfUnusable({ name, unusable }: ServerSpec, at: number): ServerSnapshot | undefined {
  if (unusable === undefined) return undefined;
  const { detail } = unusable;
  if (unusable.detail === 'not_allowed') {
    const lastError: Fault = { cause: 'withdrawn', message: unusable.why, fix: unusable.fix };
    return { ...DISABLED, detail, states: { server: 'created', keeper: detail }, lastError, failedAt: at };
  }
  const { message, fix, problems } = new MisconfiguredError(name, unusable);
  return {
    ...DISABLED,
    state: 'error',
    detail,
    states: { server: 'error', keeper: detail },
    lastError: { cause: 'config', message, fix, problems },
    failedAt: at,
  };
}

/** Of several processes the one that needs attention is shown, and one that rests only if all do. */
const RANK: Record<ServerState, number> = {
  error: 0,
  connecting: 1,
  connected: 2,
  disconnected: 3,
  created: 4,
};

export function snapshotOfReplicas(replicas: readonly Replica[]): ServerSnapshot {
  const views = replicas.map(snapshotOfReplica);
  if (views.length === 0) return DISABLED;
  return {
    ...views.reduce((shown, view) => (RANK[view.state] < RANK[shown.state] ? view : shown)),
    pids: views.flatMap((view) => view.pids),
    incarnation: Math.max(...views.map((view) => view.incarnation)),
    restarts: views.reduce((sum, view) => sum + view.restarts, 0),
    inFlight: views.reduce((sum, view) => sum + view.inFlight, 0),
  };
}

function snapshotOfReplica(replica: Replica): ServerSnapshot {
  const { incarnation, restarts, nextRetryAt } = replica.context;
  const { states, detail, lastError, failedAt, inFlight, opened } = replica;
  return {
    state: topName(states.server) as ServerState,
    detail,
    states,
    pids: [...replica.pids],
    incarnation,
    restarts,
    nextRetryAt,
    lastError,
    failedAt,
    inFlight,
    opened,
  };
}

export function snapshotOfTransients(transients: TransientPool): ServerSnapshot {
  const { newest, detail, pids, incarnation, lastError, failedAt, inFlight } = transients;
  const state = newest?.state ?? 'created';
  return {
    state: topName(state) as ServerState,
    detail,
    states: { server: state, keeper: detail },
    pids,
    incarnation,
    restarts: 0,
    nextRetryAt: undefined,
    lastError,
    failedAt,
    inFlight,
    opened: newest?.opened,
  };
}
