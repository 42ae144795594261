import { describe, expect, test } from 'vitest';
import { failed } from '../../../src/machines/restart/ending.js';
import type { KeeperStateName } from '../../../src/machines/state-name.js';
import { stopped } from '../../../src/supervisor/errors.js';
import { type KeeperFacts, refusalOf } from '../../../src/supervisor/server/refusal.js';

const lastError = failed({ cause: 'exit', message: 'srv: exited with code 1' });
const none = {
  nextRetryAt: undefined,
  callableAt: undefined,
  quarantineReason: undefined,
  connectedAt: undefined,
};
const stopError = stopped('srv');

const refusal = (
  detail: KeeperStateName,
  context: Partial<KeeperFacts['context']> = {},
  more: Partial<Omit<KeeperFacts, 'context'>> = {},
) =>
  refusalOf({
    name: 'srv',
    detail,
    isCallable: false,
    lastError,
    context: { ...none, ...context },
    now: 1000,
    stopError,
    ...more,
  });

describe('a call waits for a session', () => {
  test('a server that is idle, starts or runs lets its calls wait', () => {
    expect([refusal('idle'), refusal('running')]).toEqual([undefined, undefined]);
  });

  test('a server that crashed and is tried again lets its calls wait', () => {
    expect(refusal('waiting', { connectedAt: 5, nextRetryAt: 2000 })).toBeUndefined();
  });

  test('a call that makes the next try waits', () => {
    expect(refusal('waiting', { nextRetryAt: 2000 }, { isCallable: true })).toBeUndefined();
    expect(refusal('quarantined', { callableAt: 500 }, { isCallable: true })).toBeUndefined();
  });

  test('an early call gets an error with the time from which a call makes the next try, and the fix', () => {
    const wrong = failed({ cause: 'protocol', message: 'srv: HTTP 404', fix: "check 'url' of srv" });
    expect(
      refusal('waiting', { nextRetryAt: 301_000, callableAt: 9_400 }, { lastError: wrong }),
    ).toMatchObject({
      message: 'srv: could not be started; the next try is in 300.0 s, or with a call in 8.4 s',
      why: 'srv: HTTP 404',
      fix: "check 'url' of srv",
      retryable: true,
    });
    expect(refusal('waiting', { nextRetryAt: 2000, callableAt: 9_400 })?.message).toMatch(/is in 1\.0 s$/);
  });

  test('no other state lets a call wait: each error has the reason and the time of the next try', () => {
    expect(refusal('waiting', { nextRetryAt: 3540 })).toMatchObject({
      message: 'srv: could not be started; the next try is in 2.5 s',
      why: 'srv: exited with code 1',
      retryable: true,
      sent: false,
    });
    expect(refusal('waiting', { nextRetryAt: 1 })?.message).toContain('in 0.0 s');
    expect(
      refusal('quarantined', { quarantineReason: '5 restarts in 60 s', callableAt: 31_000 }),
    ).toMatchObject({
      message: 'srv: is quarantined (5 restarts in 60 s); a call tries it again in 30.0 s',
      why: 'srv: exited with code 1',
      fix: 'see "toolherd why srv"; then: toolherd reset srv',
      retryable: true,
    });
    expect(refusal('quarantined', {}, { name: 'a b' })?.fix).toBe(
      "see \"toolherd why 'a b'\"; then: toolherd reset 'a b'",
    );
    expect(refusal('needs_auth')?.message).toBe('srv: needs an authorisation');
    expect(refusal('stopped')).toBe(stopError);
  });
});
