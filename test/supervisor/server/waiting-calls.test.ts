import { describe, expect, it } from 'vitest';
import type { CallRequest } from '../../../src/link/calls/call.js';
import { ServerUnavailableError } from '../../../src/shared/call-errors.js';
import type { CallSink } from '../../../src/shared/call-sink.js';
import { WaitingCalls } from '../../../src/supervisor/server/waiting-calls.js';
import { VirtualClock } from '../../../src/testing/index.js';
import { Caller, request } from '../world.js';

function createCalls() {
  const clock = new VirtualClock();
  const calls = new WaitingCalls('srv', clock);
  const taken: CallRequest[] = [];
  const cancels: (string | undefined)[] = [];
  const taker = (one: CallRequest) => {
    taken.push(one);
    return { id: 7, cancel: (reason?: string) => void cancels.push(reason) };
  };
  const add = (mark?: string, timeoutMs?: number) => {
    const caller = new Caller();
    return { caller, handle: calls.add(request(mark, timeoutMs), caller) };
  };
  const marks = () => taken.map(({ params }) => (params as { arguments: { mark: string } }).arguments.mark);
  return { clock, calls, taken, taker, cancels, add, marks };
}

const unavailable = () => new ServerUnavailableError('srv: is stopped', {});

describe('a waiting call', () => {
  it('is handed over in the order of arrival, one at a time', () => {
    const { calls, add, taker, marks } = createCalls();
    for (const mark of ['a', 'b']) add(mark);
    expect(calls.size).toBe(2);
    expect(calls.handOver(taker)).toBe(true);
    expect(marks()).toEqual(['a']);
    expect(calls.handOver(taker)).toBe(true);
    expect(calls.handOver(taker)).toBe(false);
    expect(marks()).toEqual(['a', 'b']);
    expect(calls.size).toBe(0);
  });

  it('takes what is left of its timeout along; a call without a timeout gets none', () => {
    const { calls, clock, add, taken, taker } = createCalls();
    add('a', 1000);
    add('b');
    clock.advance(400);
    while (calls.handOver(taker));
    expect(taken.map(({ timeoutMs }) => timeoutMs)).toEqual([600, undefined]);
  });

  it('fails with MCPTimeoutError at the timeout of its caller, not sent, and leaves no timer', () => {
    const { calls, clock, add } = createCalls();
    const { caller } = add('a', 1000);
    clock.advance(900);
    expect(caller.isSettled).toBe(false);
    clock.advance(1000);
    expect(caller.error).toMatchObject({ type: 'MCPTimeoutError', sent: false, retryable: true });
    expect(calls.size).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('waits for ever if its caller set no timeout', () => {
    const { calls, clock, add } = createCalls();
    const { caller } = add();
    clock.advance(86_400_000);
    expect(caller.isSettled).toBe(false);
    expect(calls.size).toBe(1);
  });

  it('is cancelled once, and is not handed over', () => {
    const { calls, add, taker, taken } = createCalls();
    const { caller, handle } = add();
    handle?.cancel('not wanted');
    handle?.cancel('not wanted');
    expect(caller.error).toMatchObject({ type: 'CancelledError', sent: false });
    expect(calls.handOver(taker)).toBe(false);
    expect(taken).toEqual([]);
  });

  it('is cancelled at its taker by the same handle after it was handed over', () => {
    const { calls, add, taker, cancels } = createCalls();
    const { caller, handle } = add();
    calls.handOver(taker);
    handle?.cancel('not wanted');
    expect(cancels).toEqual(['not wanted']);
    expect(caller.isSettled).toBe(false);
  });
});

describe('fail', () => {
  it('gives the error to each call once', () => {
    const { calls, add } = createCalls();
    const callers = [add('a'), add('b', 1000)].map(({ caller }) => caller);
    const error = unavailable();
    calls.fail(error);
    calls.fail(error);
    expect(callers.map((caller) => caller.error)).toEqual([error, error]);
    expect(calls.size).toBe(0);
  });

  it('settles each call once if the sink of one cancels the other', () => {
    const { calls, add } = createCalls();
    let cancelOther = () => {};
    let settled = 0;
    const sink: CallSink = {
      settle: () => {
        settled += 1;
        cancelOther();
      },
    };
    calls.add(request(), sink);
    const { caller, handle } = add();
    cancelOther = () => handle?.cancel();
    calls.fail(unavailable());
    expect(settled).toBe(1);
    expect(caller.error).toMatchObject({ type: 'CancelledError' });
  });
});

describe('the limits of waiting calls', () => {
  const overloaded = { type: 'OverloadedError', sent: false, retryable: true };

  it('refuse the call after 10,000, until one has left', () => {
    const { calls, add, taker } = createCalls();
    for (let count = 0; count < 10_000; count += 1) add();
    const refused = add();
    expect(refused.handle).toBeUndefined();
    expect(refused.caller.error).toMatchObject(overloaded);
    calls.handOver(taker);
    expect(add().handle).toBeDefined();
  });

  it('refuse a call when the others have 64 MiB of params, until one has left', () => {
    const { add } = createCalls();
    const large = add('x'.repeat(64 * 2 ** 20));
    expect(add().caller.error).toMatchObject(overloaded);
    large.handle?.cancel();
    expect(add().handle).toBeDefined();
  });

  it('count params that cannot be written as JSON as nothing', () => {
    const { calls, taker, taken } = createCalls();
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    calls.add({ method: 'tools/call', params: circular }, new Caller());
    calls.handOver(taker);
    expect(taken).toHaveLength(1);
  });
});
