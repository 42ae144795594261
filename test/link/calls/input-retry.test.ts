import { describe, expect, it } from 'vitest';
import { FIRST_CALL_ID } from '../../../src/link/calls/reply-router.js';
import { CancelledError, MCPProtocolError, ServerCrashedError } from '../../../src/shared/call-errors.js';
import type { JsonObject } from '../../../src/shared/json.js';
import { errorIn, harness } from './harness.js';

/** A server that asks for input first. */
function asking() {
  const asked: { result: JsonObject; answer(added: JsonObject): void; refuse(error: Error): void }[] = [];
  const one = harness({
    inputRequired: (_call, result) =>
      new Promise((resolve, reject) => asked.push({ result, answer: resolve, refuse: reject })),
  });
  const wants = (id: number | undefined, more: JsonObject = {}) =>
    one.reply(id, { resultType: 'input_required', ...more });
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { ...one, asked, wants, settled };
}

describe('a call whose server asks for input', () => {
  it('I2 I10: is sent again under a new id with the added params, and settles once', async () => {
    const { send, asked, wants, settled, requests, reply } = asking();
    const call = send('tools/call', { name: 'x' });
    wants(call.id, { requestState: 's' });
    expect([call.outcomes, asked[0]?.result.requestState]).toEqual([[], 's']);
    asked[0]?.answer({ inputResponses: { a: 1 } });
    await settled();
    const [first, second] = requests();
    expect(second?.id).not.toBe(first?.id);
    expect(second?.params).toEqual({ name: 'x', inputResponses: { a: 1 } });
    reply(Number(second?.id), { done: true });
    expect(call.outcomes).toEqual([{ ok: true, result: { done: true } }]);
  });

  it('I10: the call never shares an id with a later call, after any number of retries', async () => {
    const { send, asked, wants, settled, requests } = asking();
    wants(send('first').id);
    asked[0]?.answer({});
    await settled();
    send('between');
    wants(requests()[1]?.id);
    asked[1]?.answer({});
    await settled();
    send('last');
    expect(requests().map(({ method }) => method)).toEqual(['first', 'first', 'between', 'first', 'last']);
    // and none is wasted
    expect(requests().map(({ id }) => Number(id) - FIRST_CALL_ID)).toEqual([0, 1, 2, 3, 4]);
  });

  it('fails when the added params cannot be written, and the server gets nothing', async () => {
    const { send, asked, wants, settled, requests, session } = asking();
    const call = send();
    wants(call.id);
    asked[0]?.answer({ inputResponses: { count: 7n } });
    await settled();
    expect(errorIn(call.outcomes)).toMatchObject({ type: 'MCPProtocolError', retryable: false });
    expect([requests().length, session.inFlight]).toEqual([1, 0]);
  });

  it('may still get an error', () => {
    const { send, deliver } = asking();
    const call = send();
    deliver({ jsonrpc: '2.0', id: call.id, error: { code: -32603, message: 'broke' } });
    expect(errorIn(call.outcomes)).toMatchObject({ rpc: { code: -32603 } });
  });

  it('gets the result unchanged where the protocol has no such results', () => {
    const { send, reply } = harness();
    const call = send();
    reply(call.id, { resultType: 'input_required' });
    expect(call.outcomes).toEqual([{ ok: true, result: { resultType: 'input_required' } }]);
  });

  it('U4: is reached by no reply while the agent is asked', async () => {
    const { send, wants, reply, session } = asking();
    const call = send();
    wants(call.id);
    for (const id of [call.id, Number(call.id) + 1]) reply(id, { forged: true });
    expect([call.outcomes, session.strays.replies, session.inFlight]).toEqual([[], 2, 1]);
  });

  it('leaves its slot to a waiting call', () => {
    const { send, wants, requests } = asking();
    const calls = Array.from({ length: 5 }, () => send());
    expect(requests()).toHaveLength(4);
    wants(calls[0]?.id);
    expect(requests()).toHaveLength(5);
  });

  it('fails with the reason why there is no answer', async () => {
    const { send, asked, wants, settled } = asking();
    const call = send();
    wants(call.id);
    asked[0]?.refuse(new MCPProtocolError('no agent to ask', { sent: true }));
    await settled();
    expect(errorIn(call.outcomes)).toMatchObject({ message: 'no agent to ask' });
  });

  it('I2: that is cancelled, or whose server exits, settles at once, and a late answer is not written', async () => {
    const { send, asked, wants, settled, requests, session, written } = asking();
    const [cancelled, lost] = [send(), send()];
    wants(cancelled.id);
    wants(lost.id);
    const before = written.length;
    cancelled.handle?.cancel('no more');
    session.close((sent) => new ServerCrashedError('gone', { sent }));
    expect(errorIn(cancelled.outcomes)).toBeInstanceOf(CancelledError);
    expect(errorIn(lost.outcomes)).toMatchObject({ type: 'ServerCrashedError', sent: true });
    for (const { answer } of asked) answer({});
    await settled();
    // the server has ended its first try: there is nothing to cancel
    expect([written.length, requests().length]).toEqual([before, 2]);
  });

  it('waits for a person as long as its hard limit allows, and then for the server as before', async () => {
    const { send, asked, wants, settled, clock } = asking();
    const call = send('tools/call', {}, { timeoutMs: 1000 });
    wants(call.id);
    clock.advance(3000);
    expect(call.outcomes).toEqual([]);
    asked[0]?.answer({});
    await settled();
    clock.advance(900);
    expect(call.outcomes).toEqual([]);
    clock.advance(200);
    expect(errorIn(call.outcomes)).toMatchObject({ type: 'MCPTimeoutError', sent: true });
  });
});

describe('a second try that cannot be written', () => {
  it('fails its call, which was sent once and may have run', async () => {
    const { send, asked, wants, settled, wire } = asking();
    const [unwritable, refused] = [send(), send()];
    wants(unwritable.id);
    wants(refused.id);
    asked[0]?.answer({ big: 1n });
    await settled();
    wire.accepts = false;
    asked[1]?.answer({});
    await settled();
    for (const { outcomes } of [unwritable, refused]) {
      expect(errorIn(outcomes)).toMatchObject({ sent: true, retryable: false });
    }
  });
});

describe('an envelope', () => {
  it('is added to every request, also to waiting ones; a progress token stays', () => {
    const { send, session, requests, wire } = harness();
    wire.ready = false;
    send('tools/call', { a: 1, _meta: { mine: 2 } }, { progress: () => {} });
    session.useEnvelope({ version: 'x' });
    wire.ready = true;
    session.resume();
    send();
    const [first, second] = requests();
    expect(first?.params).toEqual({ a: 1, _meta: { mine: 2, progressToken: first?.id, version: 'x' } });
    expect(second?.params).toMatchObject({ _meta: { version: 'x' } });
  });
});

describe('a message that came parsed', () => {
  it('reaches its call like a line, and an invalid one is counted', () => {
    const { send, session } = harness();
    const [call, batched] = [send(), send()];
    session.deliverParsed({ jsonrpc: '2.0', id: call.id, result: { a: 1 } });
    session.deliverParsed([{ jsonrpc: '2.0', id: batched.id, result: { b: 1 } }]);
    session.deliverParsed('nonsense');
    expect([call.outcomes, batched.outcomes]).toEqual([
      [{ ok: true, result: { a: 1 } }],
      [{ ok: true, result: { b: 1 } }],
    ]);
    expect(session.strays.broken).toBe(1);
  });
});

describe('a request that got lost', () => {
  it('I2: fails its call with the reason, once; another is not touched', () => {
    const { send, session, reply } = harness();
    const [lost, other] = [send(), send()];
    const error = new ServerCrashedError('cut', { sent: true });
    const lose = (id = 0) => session.lose(id, error);
    expect([lose(lost.id), lose(lost.id), lose(7)]).toEqual([true, false, false]);
    reply(lost.id);
    expect([lost.outcomes, other.outcomes]).toEqual([[{ ok: false, error }], []]);
  });
});
