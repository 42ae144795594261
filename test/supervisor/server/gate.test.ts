import { describe, expect, test } from 'vitest';
import { type MCPError, ServerUnavailableError } from '../../../src/shared/call-errors.js';
import type { Outcome } from '../../../src/shared/call-sink.js';
import { Gate } from '../../../src/supervisor/server/gate.js';
import { VirtualClock } from '../../../src/testing/index.js';
import { FakeLink } from '../fake-link.js';
import { Caller, request, spec } from '../world.js';

const SECOND = 1000;

function stage() {
  const clock = new VirtualClock();
  const state: { refusal: MCPError | undefined; woken: number } = { refusal: undefined, woken: 0 };
  const gate = new Gate({
    name: 'srv',
    clock,
    refusal: () => state.refusal,
    wake: () => {
      state.woken += 1;
    },
  });
  const on = { opened: () => {}, notification: () => {}, ended: () => {} };
  let incarnation = 0;
  const session = (open = true) => {
    const link = new FakeLink(spec({ maxInFlight: 2 }), ++incarnation, on, clock, { goes: 'never' });
    if (open) link.opens();
    return link;
  };
  const call = (mark = 'x', timeoutMs?: number) => {
    const caller = new Caller();
    return { caller, handle: gate.send(request(mark, timeoutMs), caller) };
  };
  const marks = (link: FakeLink) =>
    link.calls.map(({ params }) => (params.arguments as { mark: string }).mark);
  return { clock, gate, state, session, call, marks };
}

describe('an open gate', () => {
  test('points at the session: a call is written at once, and no server is started', () => {
    const { gate, session, call, marks, state } = stage();
    const link = session();
    gate.open(link.session);
    const { caller } = call('a');
    expect(marks(link)).toEqual(['a']);
    expect(caller.routes).toEqual([1]);
    expect([gate.isOpen, gate.waiting, gate.load, state.woken]).toEqual([true, 0, 1, 0]);
    link.answers();
    expect(caller.result).toBeDefined();
    expect(gate.load).toBe(0);
  });

  test('counts what is with the server and what waits there as its load', () => {
    const { gate, session, call } = stage();
    gate.open(session().session);
    for (const mark of ['a', 'b', 'c']) call(mark);
    expect(gate.load).toBe(3);
  });

  test('does not ask whether a call may wait', () => {
    const { gate, session, call, state } = stage();
    gate.open(session().session);
    state.refusal = new ServerUnavailableError('no');
    expect(call().caller.isSettled).toBe(false);
  });
});

describe('a gate without a session', () => {
  test('parks a call and wakes the server in the same tick', () => {
    const { gate, call, state } = stage();
    const { caller } = call();
    expect([gate.waiting, gate.load, gate.isOpen, state.woken]).toEqual([1, 1, false, 1]);
    expect([caller.isSettled, caller.routes]).toEqual([false, []]);
  });

  test('I10: flushes in order when a session comes, each call once', () => {
    const { gate, call, session, marks } = stage();
    const callers = ['a', 'b', 'c'].map((mark) => call(mark).caller);
    const link = session();
    gate.open(link.session);
    expect(gate.waiting).toBe(0);
    call('d');
    for (let count = 0; count < 4; count += 1) link.answers();
    expect(marks(link)).toEqual(['a', 'b', 'c', 'd']);
    for (const caller of callers) expect([caller.outcomes.length, caller.routes]).toEqual([1, [1]]);
    gate.seal();
    const next = session();
    gate.open(next.session);
    expect(marks(next)).toEqual([]);
  });

  test('refuses by the state of the keeper: told at once, neither parked nor woken for', () => {
    const { gate, call, state } = stage();
    state.refusal = new ServerUnavailableError('srv: was stopped');
    const { caller, handle } = call();
    expect(caller.error).toBe(state.refusal);
    expect([handle, gate.waiting, state.woken]).toEqual([undefined, 0, 0]);
  });

  test('fails every waiting call when no session will come, once', () => {
    const { gate, call, session, marks } = stage();
    const callers = ['a', 'b'].map((mark) => call(mark).caller);
    const error = new ServerUnavailableError('srv: is quarantined');
    gate.fail(error);
    gate.fail(new ServerUnavailableError('again'));
    for (const caller of callers) expect(caller.error).toBe(error);
    const link = session();
    gate.open(link.session);
    expect([gate.waiting, marks(link)]).toEqual([0, []]);
  });
});

describe('a gate whose session has come to its end', () => {
  test('P4: parks for the next incarnation, though the machine has not heard of the death yet', () => {
    const { gate, session, call, marks, state } = stage();
    const first = session();
    gate.open(first.session);
    const running = call('a').caller;
    first.dies();
    expect(running.error).toMatchObject({ type: 'ServerCrashedError', sent: true });
    const { caller } = call('b');
    expect([gate.isOpen, gate.waiting, state.woken, caller.isSettled]).toEqual([false, 1, 1, false]);
    gate.seal();
    const second = session();
    gate.open(second.session);
    expect([marks(first), marks(second), caller.routes]).toEqual([['a'], ['b'], [2]]);
  });

  test('parks after a seal; those in flight may still be answered', () => {
    const { gate, session, call, marks } = stage();
    const link = session();
    gate.open(link.session);
    const { caller } = call('a');
    gate.seal();
    call('b');
    expect([gate.waiting, marks(link)]).toEqual([1, ['a']]);
    link.answers();
    expect(caller.result).toBeDefined();
  });
});

describe('a parked call', () => {
  test('waits as long as it takes when its caller set no timeout', () => {
    const { clock, call, gate, session } = stage();
    const { caller } = call();
    clock.advance(3600 * SECOND);
    expect(caller.isSettled).toBe(false);
    const link = session();
    gate.open(link.session);
    clock.advance(19 * SECOND);
    expect(caller.isSettled).toBe(false);
    clock.advance(1.1 * SECOND);
    expect(caller.error).toMatchObject({ type: 'MCPTimeoutError', sent: true });
  });

  test('fails at the timeout that its caller set, and says that it was not sent', () => {
    const { clock, call, gate, session, marks } = stage();
    const { caller } = call('a', SECOND);
    clock.advance(999);
    expect(caller.isSettled).toBe(false);
    clock.advance(30);
    expect(caller.error).toMatchObject({ type: 'MCPTimeoutError', sent: false, retryable: true });
    expect(caller.error.message).toContain('1 s');
    const link = session();
    gate.open(link.session);
    expect([marks(link), gate.waiting, clock.pending]).toEqual([[], 0, 0]);
  });

  test('takes along what is left of its time', () => {
    const { clock, call, gate, session } = stage();
    const { caller } = call('a', SECOND);
    clock.advance(700);
    gate.open(session().session);
    clock.advance(290);
    expect(caller.isSettled).toBe(false);
    clock.advance(40);
    expect(caller.error).toMatchObject({ type: 'MCPTimeoutError', sent: true });
  });

  test('is not written when its time is up and only the timer is late', () => {
    const { clock, call, gate, session, marks } = stage();
    const { caller } = call('a', 1005);
    const other = call('b').caller;
    clock.advance(1010);
    const link = session();
    gate.open(link.session);
    expect(caller.error).toMatchObject({ type: 'MCPTimeoutError', sent: false });
    expect([marks(link), other.isSettled]).toEqual([['b'], false]);
  });

  test('is taken back by its caller: settled once, never handed over', () => {
    const { call, gate, session, marks } = stage();
    const { caller, handle } = call('a');
    handle?.cancel('enough');
    handle?.cancel();
    expect(caller.error).toMatchObject({ type: 'CancelledError', sent: false });
    expect(caller.error.message).toContain('enough');
    const link = session();
    gate.open(link.session);
    expect(marks(link)).toEqual([]);
  });

  test('is taken back after it was handed over: the same handle reaches the server', () => {
    const { call, gate, session } = stage();
    const { caller, handle } = call('a');
    const link = session();
    gate.open(link.session);
    handle?.cancel('enough');
    expect(caller.error).toMatchObject({ type: 'CancelledError', sent: true });
    expect(link.written.map(({ method }) => method)).toEqual(['tools/call', 'notifications/cancelled']);
  });

  test('P4: is served by the next incarnation when the first one never came', () => {
    const { call, gate, session, marks } = stage();
    const { caller } = call('a');
    gate.seal();
    const link = session();
    gate.open(link.session);
    link.answers();
    expect([caller.outcomes.length, marks(link)]).toEqual([1, ['a']]);
  });
});

describe('callers that act on what they are told', () => {
  test('I2: one that takes another back while all are failed: neither is told twice', () => {
    const { gate } = stage();
    const second = new Caller();
    const first = new Caller();
    const settle = (outcome: Outcome) => {
      first.settle(outcome);
      handle?.cancel();
    };
    gate.send(request('a'), { settle });
    const handle = gate.send(request('b'), second);
    gate.fail(new ServerUnavailableError('srv: was stopped'));
    expect([first.outcomes.length, second.outcomes.length]).toEqual([1, 1]);
    expect(second.error.type).toBe('CancelledError');
  });

  test('I2 I10: one that takes another back while the gate opens: that one is not handed over', () => {
    const { gate, session, marks } = stage();
    const second = new Caller();
    // cannot be written, so it is settled in the middle of the opening
    const params: Record<string, unknown> = {};
    params.self = params;
    gate.send({ method: 'tools/call', params }, { settle: () => handle?.cancel() });
    const handle = gate.send(request('b'), second);
    const link = session();
    gate.open(link.session);
    expect(second.error.type).toBe('CancelledError');
    expect(marks(link)).toEqual([]);
  });
});

describe('too much to wait', () => {
  test('the ten thousand and first is refused, and the others are not harmed', () => {
    const { gate, call, state } = stage();
    const callers = Array.from({ length: 10_000 }, (_, index) => call(String(index)).caller);
    const { caller, handle } = call();
    expect(caller.error).toMatchObject({ type: 'OverloadedError', retryable: true, sent: false });
    expect([handle, gate.waiting, state.woken]).toEqual([undefined, 10_000, 10_000]);
    gate.fail(new ServerUnavailableError('srv: was stopped'));
    expect(callers.every(({ outcomes }) => outcomes.length === 1)).toBe(true);
    expect(call().caller.isSettled).toBe(false);
  });

  test('64 MiB are as good as ten thousand; what leaves makes room again', () => {
    const { call } = stage();
    const big = 'x'.repeat(2 ** 20);
    const handles = Array.from({ length: 64 }, () => call(big).handle);
    expect(call('y').caller.error.type).toBe('OverloadedError');
    handles[0]?.cancel();
    expect(call('y').caller.isSettled).toBe(false);
  });
});
