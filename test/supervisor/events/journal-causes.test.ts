import { describe, expect, test } from 'vitest';
import { disconnected, failed } from '../../../src/machines/restart/ending.js';
import { stateName, topName } from '../../../src/machines/state-name.js';
import { describeCause } from '../../../src/supervisor/events/journal.js';

describe('the cause of a transition in words', () => {
  test.each([
    [{ type: 'stop' }, 'stop was ordered'],
    [{ type: 'call.waiting' }, 'a call came, or a list was wanted'],
    [{ type: 'link.failed', failure: { message: 'the handshake was refused' } }, 'the handshake was refused'],
    [{ type: 'link.exited', message: 'srv: exited with code 7' }, 'srv: exited with code 7'],
    [{ type: 'link.hung', message: 'no answer to ping' }, 'no answer to ping'],
    [{ type: 'link.closed', killed: false }, 'closed, nothing of it is left'],
    [{ type: 'xstate.after.startTimeout.server.connecting.opening' }, 'no answer to initialize in time'],
    [{ type: 'xstate.after.discoverTimeout.x' }, 'its lists took too long to read'],
    [{ type: 'xstate.after.closeTimeout.x' }, 'it did not exit when asked'],
    [{ type: 'xstate.after.idleTimeout.x' }, 'no call came for idle_timeout'],
    [{ type: 'xstate.after.backoff.keeper.waiting' }, 'the time of the next try came'],
    [{ type: 'xstate.after.hold.keeper.waiting.holding' }, 'from now on a call makes the next try'],
    [{ type: 'xstate.after.refill.transient.open' }, 'the spares that calls have taken are replaced'],
    [
      { type: 'xstate.done.actor.server.1', output: failed({ cause: 'exit', message: 'it died' }) },
      'it died',
    ],
    [{ type: 'xstate.done.actor.server.1', output: disconnected('idle') }, 'no call came for idle_timeout'],
    [{ type: 'xstate.done.actor.server.1', output: disconnected('stopped') }, 'it was stopped'],
    [{ type: 'xstate.done.actor.server.1' }, 'it was ended'],
    [{ type: 'xstate.error.actor.server.1', error: new Error('x') }, 'a fault in toolherd itself'],
    [{ type: 'unheard.of' }, 'unheard.of'],
  ])('%o', (event, words) => {
    expect(describeCause(event)).toBe(words);
  });
});

test('stateName joins a nested state with dots, and topName gives its first part', () => {
  expect(stateName('idle')).toBe('idle');
  expect(stateName({ connected: { closing: 'asking' } })).toBe('connected.closing.asking');
  expect([topName('connected.closing.asking'), topName('idle')]).toEqual(['connected', 'idle']);
});
