import { describe, expect, test } from 'vitest';
import type { CallContext, CallParams, ToolResult } from '../../../src/fleet/fleet.js';
import type { MCPError } from '../../../src/shared/call-errors.js';
import { type FanOutOptions, fanOut } from '../../../src/supervisor/routing/fan-out.js';
import { VirtualClock } from '../../../src/testing/index.js';
import { settled } from '../world.js';

interface Begun {
  params: CallParams;
  succeed(): void;
  fail(): void;
}

/** Calls that the test ends, or a cancellation. */
function beginCalls(count: number, options: FanOutOptions = {}, params: Partial<CallParams> = {}) {
  const clock = new VirtualClock();
  const begun: Begun[] = [];
  const result = (one: CallParams, type?: string) =>
    ({
      success: type === undefined,
      error: type === undefined ? null : { type },
      metadata: one,
    }) as unknown as ToolResult;
  const call = (one: CallParams, { signal }: CallContext) =>
    new Promise<ToolResult>((resolve) => {
      signal?.addEventListener('abort', () => resolve(result(one, 'CancelledError')));
      begun.push({
        params: one,
        succeed: () => resolve(result(one)),
        fail: () => resolve(result(one, 'ServerCrashedError')),
      });
    });
  const refuse = (one: CallParams, error: MCPError) => result(one, `not begun: ${error.type}`);
  const calls = Array.from({ length: count }, (_, index) => ({ server: `s${index}`, tool: 't', ...params }));
  const told: number[] = [];
  const results = fanOut(
    calls,
    { onResult: (index) => told.push(index), ...options },
    { clock, call, refuse },
  );
  const kinds = async () => (await results).map(({ error }) => error?.type ?? 'ok');
  return { clock, begun, told, results, kinds };
}

describe('many calls at once', () => {
  test('all begin; each result is reported when it comes, and all are returned in the order of the calls', async () => {
    const { begun, told, results, kinds } = beginCalls(3);
    expect(begun).toHaveLength(3);
    begun[2]?.succeed();
    await settled();
    begun[0]?.fail();
    await settled();
    expect(told).toEqual([2, 0]);
    begun[1]?.succeed();
    expect(await kinds()).toEqual(['ServerCrashedError', 'ok', 'ok']);
    expect((await results).map(({ metadata }) => metadata.server)).toEqual(['s0', 's1', 's2']);
  });

  test('never exceed `concurrency`; a call that hangs takes one place', async () => {
    const { begun, told } = beginCalls(4, { concurrency: 2 });
    for (const next of [1, 2, 3]) {
      expect(begun).toHaveLength(next + 1 === 2 ? 2 : next + 1);
      begun[next]?.succeed();
      await settled();
    }
    expect(told).toEqual([1, 2, 3]);
  });

  test('calls with enough: 1 end at the first success: the others are cancelled, waiting ones never begin', async () => {
    const { begun, kinds } = beginCalls(4, { enough: 1, concurrency: 3 });
    begun[0]?.fail();
    await settled();
    expect(begun).toHaveLength(4);
    begun[2]?.succeed();
    expect(await kinds()).toEqual(['ServerCrashedError', 'CancelledError', 'ok', 'CancelledError']);
  });

  test('calls with enough: 2 do not count failures', async () => {
    const { begun, kinds } = beginCalls(4, { enough: 2, concurrency: 3 });
    begun[0]?.succeed();
    await settled();
    begun[1]?.fail();
    await settled();
    begun[3]?.succeed();
    expect(await kinds()).toEqual(['ok', 'ServerCrashedError', 'CancelledError', 'ok']);
    const waiting = beginCalls(3, { enough: 1, concurrency: 1 });
    waiting.begun[0]?.succeed();
    expect(await waiting.kinds()).toEqual(['ok', 'not begun: CancelledError', 'not begun: CancelledError']);
  });

  test('whose quorum cannot be reached all end before the result', async () => {
    const { begun, kinds } = beginCalls(2, { enough: 2 });
    for (const one of begun) one.fail();
    expect(await kinds()).toEqual(['ServerCrashedError', 'ServerCrashedError']);
  });

  test('share a deadline: each gets the remaining time, or its own timeout if that is shorter', async () => {
    const { begun, clock, kinds } = beginCalls(4, { timeoutMs: 1000, concurrency: 1 }, { timeout_ms: 800 });
    clock.advance(300);
    begun[0]?.fail();
    await settled();
    clock.advance(700);
    begun[1]?.fail();
    expect(await kinds()).toEqual([
      'ServerCrashedError',
      'ServerCrashedError',
      'not begun: MCPTimeoutError',
      'not begun: MCPTimeoutError',
    ]);
    expect(begun.map(({ params }) => params.timeout_ms)).toEqual([800, 700]);
  });

  test('calls without a deadline get no timeout', () => {
    expect(beginCalls(1).begun[0]?.params).not.toHaveProperty('timeout_ms');
  });

  test('can be cancelled together, also before they begin', async () => {
    const abort = new AbortController();
    const running = beginCalls(2, { signal: abort.signal, concurrency: 1 });
    abort.abort(new Error('enough'));
    expect(await running.kinds()).toEqual(['CancelledError', 'not begun: CancelledError']);
    expect(await beginCalls(1, { signal: abort.signal }).kinds()).toEqual(['not begun: CancelledError']);
  });

  test('resolve at once for an empty list of calls', async () => {
    expect(await beginCalls(0).results).toEqual([]);
  });
});
