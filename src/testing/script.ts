/**
 * What a simulated link does, in answer to each order. A script is asked once per incarnation, so "crashes three
 * times, then works" is a function of its number.
 */

import type { LinkOrder, LinkReport } from '../machines/link-protocol.js';
import type { Failed } from '../machines/restart/ending.js';

/** A report, and how long after the order it is made; 0: before the order returns. */
export interface Step {
  afterMs: number;
  report: LinkReport;
}

export type Behaviour = { readonly [order in LinkOrder['type']]?: readonly Step[] };

export type Script = (incarnation: number) => Behaviour;

export const reports = {
  opened: (): LinkReport => ({ type: 'link.opened' }),
  discovered: (): LinkReport => ({ type: 'link.discovered' }),
  listChanged: (): LinkReport => ({ type: 'link.list_changed' }),
  exited: (code: number | null = 1, signal: string | null = null): LinkReport => ({
    type: 'link.exited',
    code,
    signal,
    message: `the process ended with ${signal ?? code}`,
  }),
  failed: (failure: Partial<Omit<Failed, 'kind'>> = {}): LinkReport => ({
    type: 'link.failed',
    failure: { cause: 'protocol', message: 'the handshake was refused', ...failure },
  }),
  hung: (): LinkReport => ({ type: 'link.hung', message: 'no answer to ping' }),
  closed: (killed = false): LinkReport => ({ type: 'link.closed', killed }),
  closeFailed: (): LinkReport => ({ type: 'link.close_failed', message: 'the session could not be ended' }),
};

const at = (afterMs: number, report: LinkReport): Step => ({ afterMs, report });

/** Goes when asked, dies when killed, and otherwise does only what the test makes it report. */
export const obedient: Behaviour = {
  close: [at(0, reports.closed())],
  kill: [at(0, reports.closed(true))],
};

/** Ignores `close`: only `kill` ends it. */
export const stubborn: Behaviour = { kill: [at(0, reports.closed(true))] };

/** Does not even answer `kill`: for tests that make every report themselves. */
export const silent: Behaviour = {};

/** A good server: shakes hands, reads its lists, goes when asked. */
export function healthy(handshakeMs = 10): Behaviour {
  return {
    ...obedient,
    open: [at(handshakeMs, reports.opened())],
    discover: [at(5, reports.discovered())],
  };
}

/** Shakes hands and dies `lifeMs` later, for ever. */
export function crashing(lifeMs: number, code = 1): Behaviour {
  return { ...healthy(), open: [at(10, reports.opened()), at(10 + lifeMs, reports.exited(code))] };
}

/** Never gets through its handshake. */
export function unstartable(failure: Partial<Omit<Failed, 'kind'>> = {}): Behaviour {
  return { ...obedient, open: [at(10, reports.failed(failure))] };
}
