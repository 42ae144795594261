import { describe, expect, test } from 'vitest';
import { failed } from '../../src/machines/ending.js';
import { stopped } from '../../src/supervisor/errors.js';
import { type KeeperDetail, refusalOf, type Waited } from '../../src/supervisor/refusal.js';

const lastError = failed({ cause: 'exit', message: 'srv: exited with code 1' });
const none = { nextRetryAt: undefined, quarantineReason: undefined, lastError, connectedAt: undefined };
const farewell = stopped('srv');

const refusal = (detail: KeeperDetail, context: Partial<Waited['context']> = {}) =>
  refusalOf({ name: 'srv', detail, context: { ...none, ...context }, now: 1000, farewell });

describe('who may wait for a session', () => {
  test('whoever calls a server that rests, starts or runs', () => {
    expect([refusal('idle'), refusal('running')]).toEqual([undefined, undefined]);
  });

  test('whoever calls one that crashed and comes back', () => {
    expect(refusal('waiting', { connectedAt: 5, nextRetryAt: 2000 })).toBeUndefined();
  });

  test('nobody else: each is told why, and when the next try is', () => {
    expect(refusal('waiting', { nextRetryAt: 3540 })).toMatchObject({
      message: 'srv: could not be started; the next try is in 2.5 s',
      why: 'srv: exited with code 1',
      retryable: true,
      sent: false,
    });
    expect(refusal('waiting', { nextRetryAt: 1 })?.message).toContain('in 0.0 s');
    expect(refusal('quarantined', { quarantineReason: '5 restarts in 60 s' })).toMatchObject({
      message: 'srv: is quarantined (5 restarts in 60 s)',
      why: 'srv: exited with code 1',
      fix: 'mend the cause, then: toolherd reset srv',
      retryable: false,
    });
    expect(refusal('needs_auth')?.message).toBe('srv: needs an authorisation');
    expect(refusal('stopped')).toBe(farewell);
  });
});
