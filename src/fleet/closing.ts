/** Why a daemon ends. `successor`: the pid of the daemon that takes its place. */
export type Closing = { reason: 'shutdown' } | { reason: 'replaced'; successor: number };

/** Sent to connections whose `fleet/hello` has `closing_notice`. */
export const CLOSING = 'fleet/closing';
