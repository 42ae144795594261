/** Everything that can happen to the machines, with a name for tables. */
import type { ServerEvent } from '../../src/machines/index.js';
import { disconnected, type Ending, failed, type KeeperEvent } from '../../src/machines/index.js';
import { reports } from '../../src/testing/index.js';

export const serverEvents: Readonly<Record<string, ServerEvent>> = {
  connect: { type: 'connect' },
  stop: { type: 'stop' },
  rest: { type: 'rest', message: 'the room is needed' },
  'link.opened': reports.opened(),
  'link.discovered': reports.discovered(),
  'link.list_changed': reports.listChanged(),
  'link.exited 0': reports.exited(0),
  'link.exited 1': reports.exited(1),
  'link.failed': reports.failed(),
  'link.hung': reports.hung(),
  'link.closed': reports.closed(),
  'link.closed killed': reports.closed(true),
  'link.close_failed': reports.closeFailed(),
};

export const endings: Readonly<Record<string, Ending>> = {
  stopped: disconnected('stopped'),
  idle: disconnected('idle'),
  rested: disconnected('rested'),
  ended: disconnected('ended'),
  crashed: failed({ cause: 'exit', message: 'ended with 1', code: 1, signal: null }),
  'close failed': failed({ cause: 'close', message: 'the session could not be ended' }),
  'wants auth': failed({ cause: 'auth', message: 'sign in first' }),
  hopeless: failed({ cause: 'spawn', message: 'no such command', permanent: true }),
  misconfigured: failed({ cause: 'protocol', message: 'HTTP 404', looksMisconfigured: true }),
};

/** Endings and breaks carry the id of the incarnation that is there. */
export function keeperEvents(incarnation: number): Readonly<Record<string, KeeperEvent>> {
  return {
    start: { type: 'start' },
    stop: { type: 'stop' },
    restart: { type: 'restart' },
    reset: { type: 'reset' },
    'call.waiting': { type: 'call.waiting' },
    'permit.granted': { type: 'permit.granted' },
    'server.connected': { type: 'server.connected', incarnation },
    ...Object.fromEntries(
      Object.entries(endings).map(([name, output]) => [
        `server ended: ${name}`,
        { type: `xstate.done.actor.server.${incarnation}` as const, output },
      ]),
    ),
    'server broke': { type: `xstate.error.actor.server.${incarnation}`, error: new Error('a bug of ours') },
  };
}
