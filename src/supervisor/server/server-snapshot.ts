import type { ServerSpec } from '../../config/fields/spec.js';
import type { Detail, LastError, ServerState } from '../../fleet/fleet.js';
import type { Opened } from '../../link/link.js';
import type { Failed } from '../../machines/restart/ending.js';
import { MisconfiguredError } from '../errors.js';

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
  /** By the clock. */
  nextRetryAt: number | undefined;
  lastError: Fault | undefined;
  /** A date. */
  failedAt: number | undefined;
  inFlight: number;
  opened: Opened | undefined;
  /** Other nodes of the cluster that offer it; absent where none could. */
  nodes?: readonly { node: string; state: ServerState; inFlight: number }[];
  /** No replica of it runs on this node. */
  isElsewhere?: true;
  /** When it came into this state, where its journal does not tell; a date. */
  since?: number;
}

/** Of a server without processes. */
export const DISABLED: ServerSnapshot = {
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
