import { describe, expect, it } from 'vitest';
import type { CallContext, McpResult } from '../../../src/fleet/fleet.js';
import { SuspendableCall } from '../../../src/ipc/mcp/mcp-2026/suspendable-call.js';
import { SUSPENDED_MS, SuspendedCalls } from '../../../src/ipc/mcp/suspended-calls.js';
import { FakeClock } from '../../link/fake-clock.js';

const PARAMS = { name: 't', arguments: { a: [1], b: 2 } };

function suspended() {
  const clock = new FakeClock();
  const calls = new SuspendedCalls(clock);
  const cancelled: string[] = [];
  const call = { method: 'tools/call', params: PARAMS, cancel: (why: string) => void cancelled.push(why) };
  return { clock, calls, call, cancelled };
}

describe('a suspended call', () => {
  it('is resumed once, by a request with the same params in any order of fields', () => {
    const { clock, calls, call, cancelled } = suspended();
    const token = calls.suspend(call)!;
    const same = { arguments: { b: 2, a: [1] }, name: 't', _meta: { progressToken: 9 } };
    expect(() => calls.take(token, 'prompts/get', same)).toThrow('another request');
    expect(() => calls.take(token, 'tools/call', { ...same, name: 'u' })).toThrow('another request');
    expect(calls.take(token, 'tools/call', same)).toBe(call);
    expect(() => calls.take(token, 'tools/call', same)).toThrow("'requestState' is unknown");
    expect(clock.pending).toBe(0);
    expect(cancelled).toEqual([]);
  });

  it('has a unique token of at least 128 bits', () => {
    const { calls, call } = suspended();
    const tokens = Array.from({ length: 100 }, () => calls.suspend(call));
    expect(new Set(tokens).size).toBe(100);
    expect(tokens.every((token) => Buffer.from(token!, 'base64url').length >= 16)).toBe(true);
  });

  it('is cancelled when its client does not answer in time, or leaves', () => {
    const { clock, calls, call, cancelled } = suspended();
    const token = calls.suspend(call)!;
    clock.advance(SUSPENDED_MS - 1);
    expect(cancelled).toEqual([]);
    clock.advance(1);
    expect(cancelled).toEqual(['the client did not answer the question of the server']);
    expect(() => calls.take(token, 'tools/call', PARAMS)).toThrow("'requestState' is unknown");
    calls.suspend(call);
    calls.close();
    expect(cancelled).toHaveLength(2);
    expect([calls.size, clock.pending]).toEqual([0, 0]);
  });

  it('is refused beyond a thousand', () => {
    const { calls, call } = suspended();
    for (let count = 0; count < 1000; count += 1) calls.suspend(call);
    expect(calls.suspend(call)).toBeUndefined();
  });
});

describe('a call with questions', () => {
  function asking() {
    const suspended = new SuspendedCalls<SuspendableCall>(new FakeClock());
    let context: CallContext = {};
    let finish: (result: McpResult) => void = () => undefined;
    const call = new SuspendableCall({
      ...{ method: 'tools/call', params: PARAMS, suspended, wantsProgress: true },
      capabilities: { elicitation: {} },
      begin: (given) => {
        context = given;
        return new Promise((resolve, reject) => {
          finish = resolve;
          given.signal!.addEventListener('abort', () => reject(given.signal!.reason));
        });
      },
    });
    const steps: unknown[] = [];
    const leg = () => ({
      signal: new AbortController().signal,
      progress: (progress: unknown) => void steps.push(progress),
    });
    const ask = (message: string, signal = new AbortController().signal) =>
      context.onRequest!('elicitation/create', { message }, signal);
    return {
      call,
      suspended,
      leg,
      ask,
      steps,
      context: () => context,
      finish: (result: McpResult) => finish(result),
    };
  }

  it('returns all open questions at once, and later ones with the next request', async () => {
    const { call, leg, ask, finish } = asking();
    const run = call.run(leg());
    const answers = [ask('one'), ask('two')];
    const { inputRequests } = await run;
    expect(inputRequests).toEqual({
      'question-1': { method: 'elicitation/create', params: { message: 'one' } },
      'question-2': { method: 'elicitation/create', params: { message: 'two' } },
    });
    const late = ask('three');
    call.answer({ 'question-1': { action: 'accept' }, 'question-9': { action: 'decline' } });
    expect(await answers[0]).toEqual({ action: 'accept' });
    expect(Object.keys((await call.run(leg())).inputRequests as object)).toEqual([
      'question-2',
      'question-3',
    ]);
    call.answer({ 'question-2': { action: 'cancel' }, 'question-3': { action: 'accept' } });
    expect(await Promise.all([answers[1], late])).toEqual([{ action: 'cancel' }, { action: 'accept' }]);
    const last = call.run(leg());
    finish({ content: [] });
    expect(await last).toEqual({ content: [] });
  });

  it('drops a question that its server cancelled', async () => {
    const { call, leg, ask, finish } = asking();
    const run = call.run(leg());
    const taken = new AbortController();
    const answer = ask('never mind', taken.signal).catch(() => 'taken back');
    taken.abort();
    expect(await answer).toBe('taken back');
    finish({ content: [] });
    expect(await run).toEqual({ content: [] });
  });

  it('keeps its outcome for the next request, and sends progress only to an open request', async () => {
    const { call, leg, ask, steps, context, finish } = asking();
    const run = call.run(leg());
    context().onProgress!({ progress: 1 });
    void ask('one').catch(() => undefined);
    await run;
    context().onProgress!({ progress: 2 });
    finish({ content: ['done'] });
    expect(await call.run(leg())).toEqual({ content: ['done'] });
    expect(steps).toEqual([{ progress: 1 }]);
  });

  it('fails its open and later questions when it is cancelled', async () => {
    const { call, leg, ask } = asking();
    const run = call.run(leg());
    const answer = ask('one');
    await run;
    call.cancel('no answer came');
    await expect(answer).rejects.toThrow('no answer came');
    await expect(ask('two')).rejects.toThrow('no answer came');
  });

  it('is cancelled with the request that waits for it', async () => {
    const { call, context, leg } = asking();
    const request = new AbortController();
    const run = call.run({ ...leg(), signal: request.signal });
    request.abort();
    await expect(run).rejects.toThrow('cancelled it');
    expect(context().signal!.aborted).toBe(true);
  });
});
