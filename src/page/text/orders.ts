import type { Order, ServerStatus } from '../../fleet/fleet.js';
import { plural } from './format.js';

/** What a button says. */
export const ORDER_WORDS: Readonly<Record<Order, string>> = {
  start: 'Start',
  stop: 'Stop',
  restart: 'Restart',
  reset: 'Reset',
};

/** The orders that change something for a server in this state, the most useful first. */
export function ordersFor({
  detail,
  state,
  elsewhere,
}: Pick<ServerStatus, 'detail' | 'state' | 'elsewhere'>): readonly Order[] {
  // the daemons of other nodes decide about it
  if (elsewhere === true) return [];
  switch (detail) {
    case 'running':
      return ['restart', 'stop'];
    case 'waiting':
      return ['start', 'reset', 'stop'];
    case 'quarantined':
    case 'needs_auth':
      return ['reset', 'stop'];
    case 'idle':
      return state === 'error' ? ['start', 'reset', 'stop'] : ['start', 'stop'];
    case 'stopped':
      return ['start'];
    case 'disabled':
    case 'not_allowed':
    case 'misconfigured':
      return [];
  }
}

/** What follows from an order, in the words of the command. */
export function consequenceOf(order: Order, { in_flight, other_view }: ServerStatus): string {
  const calls =
    in_flight > 0 ? ` ${plural(in_flight, 'call')} in flight ${in_flight === 1 ? 'fails' : 'fail'}.` : '';
  const others =
    other_view === true ? ' The order reaches every server of this name in the views of other agents.' : '';
  switch (order) {
    case 'start':
      return `toolherd starts it now.${others}`;
    case 'stop':
      return `It stays stopped, also when called, until you start it.${calls}${others}`;
    case 'restart':
      return `toolherd stops it and starts it again. New calls wait for the new process.${calls}${others}`;
    case 'reset':
      return `toolherd forgets its failures and tries it again.${others}`;
  }
}

/** What an order did, from the status that the daemon answered with. */
export function reportOf(order: Order, name: string, servers: readonly ServerStatus[]): string {
  const after = servers.find((server) => server.name === name);
  const isSaid = after === undefined || (order === 'stop' && after.detail === 'stopped');
  const state = isSaid ? '' : `: it is ${stateText(after)}`;
  const done = {
    start: `Started ${name}`,
    stop: `Stopped ${name}`,
    restart: `Restarted ${name}`,
    reset: `Forgot the failures of ${name}`,
  };
  return `${done[order]}${state}.`;
}

function stateText({ detail, state, tools }: ServerStatus): string {
  if (detail !== 'running') return detail.replace('_', ' ');
  return state === 'connected' ? `running, with ${plural(tools, 'tool')}` : state;
}
