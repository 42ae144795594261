import { describe, expect, test } from 'vitest';
import { type MCPError, ServerUnavailableError } from '../../../src/shared/call-errors.js';
import type { Outcome } from '../../../src/shared/call-sink.js';
import { Gate } from '../../../src/supervisor/server/gate.js';
import { VirtualClock } from '../../../src/testing/index.js';
import { FakeLink } from '../fake-link.js';
import { Caller, request, spec } from '../world.js';

const SECOND = 1000;

function createGate() {
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
  test('writes a call to its session at once, and wakes no server', () => {
    const { gate, session, call, marks, state } = createGate();
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

  test('counts calls in flight and calls that wait in the session as its load', () => {
    const { gate, session, call } = createGate();
    gate.open(session().session);
    for (const mark of ['a', 'b', 'c']) call(mark);
    expect(gate.load).toBe(3);
  });

  test('does not ask for a refusal', () => {
    const { gate, session, call, state } = createGate();
    gate.open(session().session);
    state.refusal = new ServerUnavailableError('no');
    expect(call().caller.isSettled).toBe(false);
  });
});

describe('a gate without a session', () => {
  test('keeps a call waiting and wakes the server in the same tick', () => {
    const { gate, call, state } = createGate();
    const { caller } = call();
    expect([gate.waiting, gate.load, gate.isOpen, state.woken]).toEqual([1, 1, false, 1]);
    expect([caller.isSettled, caller.routes]).toEqual([false, []]);
  });

  test('I10: writes waiting calls in order when a session opens, each once', () => {
    const { gate, call, session, marks } = createGate();
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

  test("refuses a call by the keeper's state at once: the call neither waits nor wakes the server", () => {
    const { gate, call, state } = createGate();
    state.refusal = new ServerUnavailableError('srv: was stopped');
    const { caller, handle } = call();
    expect(caller.error).toBe(state.refusal);
    expect([handle, gate.waiting, state.woken]).toEqual([undefined, 0, 0]);
  });

  test('fails every waiting call once when no session will open', () => {
    const { gate, call, session, marks } = createGate();
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

describe('a gate whose session has ended', () => {
  test('P4: keeps a call waiting for the next incarnation, before the machine has the report of the death', () => {
    const { gate, session, call, marks, state } = createGate();
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

  test('keeps new calls waiting after a seal; calls in flight may still be answered', () => {
    const { gate, session, call, marks } = createGate();
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

describe('a waiting call', () => {
  test('waits without a limit when its caller set no timeout', () => {
    const { clock, call, gate, session } = createGate();
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

  test("fails at its caller's timeout with sent: false", () => {
    const { clock, call, gate, session, marks } = createGate();
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

  test('has only its remaining time at the server', () => {
    const { clock, call, gate, session } = createGate();
    const { caller } = call('a', SECOND);
    clock.advance(700);
    gate.open(session().session);
    clock.advance(290);
    expect(caller.isSettled).toBe(false);
    clock.advance(40);
    expect(caller.error).toMatchObject({ type: 'MCPTimeoutError', sent: true });
  });

  test('is not written after its timeout, also when the timer is late', () => {
    const { clock, call, gate, session, marks } = createGate();
    const { caller } = call('a', 1005);
    const other = call('b').caller;
    clock.advance(1010);
    const link = session();
    gate.open(link.session);
    expect(caller.error).toMatchObject({ type: 'MCPTimeoutError', sent: false });
    expect([marks(link), other.isSettled]).toEqual([['b'], false]);
  });

  test('that is cancelled settles once and is never written', () => {
    const { call, gate, session, marks } = createGate();
    const { caller, handle } = call('a');
    handle?.cancel('enough');
    handle?.cancel();
    expect(caller.error).toMatchObject({ type: 'CancelledError', sent: false });
    expect(caller.error.message).toContain('enough');
    const link = session();
    gate.open(link.session);
    expect(marks(link)).toEqual([]);
  });

  test('that was written meanwhile is cancelled at the server by the same handle', () => {
    const { call, gate, session } = createGate();
    const { caller, handle } = call('a');
    const link = session();
    gate.open(link.session);
    handle?.cancel('enough');
    expect(caller.error).toMatchObject({ type: 'CancelledError', sent: true });
    expect(link.written.map(({ method }) => method)).toEqual(['tools/call', 'notifications/cancelled']);
  });

  test('P4: is served by the next incarnation if the first never opened', () => {
    const { call, gate, session, marks } = createGate();
    const { caller } = call('a');
    gate.seal();
    const link = session();
    gate.open(link.session);
    link.answers();
    expect([caller.outcomes.length, marks(link)]).toEqual([1, ['a']]);
  });
});

describe('a caller that cancels another call in its callback', () => {
  test('I2: both calls settle once while the gate fails all calls', () => {
    const { gate } = createGate();
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

  test('I2 I10: the other call is not written while the gate opens', () => {
    const { gate, session, marks } = createGate();
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

describe('the limit of waiting calls', () => {
  test('is 10,000: the next call is refused, the others stay', () => {
    const { gate, call, state } = createGate();
    const callers = Array.from({ length: 10_000 }, (_, index) => call(String(index)).caller);
    const { caller, handle } = call();
    expect(caller.error).toMatchObject({ type: 'OverloadedError', retryable: true, sent: false });
    expect([handle, gate.waiting, state.woken]).toEqual([undefined, 10_000, 10_000]);
    gate.fail(new ServerUnavailableError('srv: was stopped'));
    expect(callers.every(({ outcomes }) => outcomes.length === 1)).toBe(true);
    expect(call().caller.isSettled).toBe(false);
  });

  test('is 64 MiB; a cancelled call makes room', () => {
    const { call } = createGate();
    const big = 'x'.repeat(2 ** 20);
    const handles = Array.from({ length: 64 }, () => call(big).handle);
    expect(call('y').caller.error.type).toBe('OverloadedError');
    handles[0]?.cancel();
    expect(call('y').caller.isSettled).toBe(false);
  });
});
