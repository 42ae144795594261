import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { FIRST_CALL_ID } from '../../../src/link/calls/reply-router.js';
import { requestLine } from '../../../src/link/calls/request-line.js';
import { ServerCrashedError } from '../../../src/shared/call-errors.js';
import { errorOf } from '../support.js';
import { errorIn, harness } from './harness.js';

const crash = (sent: boolean) => new ServerCrashedError('gone', { sent, retryable: true });

describe('a session', () => {
  it('gives a reply to its call and to no other', () => {
    const { send, reply } = harness();
    const [a, b] = [send(), send()];
    reply(b.id, { b: 1 });
    expect(a.outcomes).toEqual([]);
    expect(b.outcomes).toEqual([{ ok: true, result: { b: 1 } }]);
    reply(a.id, { a: 1 });
    expect(a.outcomes).toEqual([{ ok: true, result: { a: 1 } }]);
  });

  it('numbers its calls in a separate range, in integers that fit 32 bits', () => {
    const { send, requests } = harness();
    send();
    send();
    expect(requests().map(({ id }) => id)).toEqual([FIRST_CALL_ID, FIRST_CALL_ID + 1]);
    expect(FIRST_CALL_ID).toBeLessThan(2 ** 31);
  });

  it('is of incarnation 1 unless another is given', () => {
    expect(harness().session.incarnation).toBe(1);
    expect(harness({ incarnation: 7 }).session.incarnation).toBe(7);
  });

  it('knows the caller of each running call', () => {
    const { session } = harness();
    for (const caller of ['a', 'b', undefined])
      session.send({ method: 'x', caller }, { settle: () => undefined });
    expect([...session.running].map(({ caller }) => caller)).toEqual(['a', 'b', undefined]);
  });

  it('passes a server error on unchanged', () => {
    const { send, deliver } = harness();
    const call = send();
    const error = { code: -32602, message: 'bad', data: { deep: [1] } };
    deliver({ jsonrpc: '2.0', id: call.id, error });
    expect(errorIn(call.outcomes)).toMatchObject({
      type: 'MCPProtocolError',
      sent: true,
      retryable: false,
      rpc: error,
    });
  });

  it('names a fix for a refusal: the schema for wrong params, the log for anything else', () => {
    const fixes = [-32602, -32603].map((code) => {
      const { send, deliver } = harness();
      const call = send();
      deliver({ jsonrpc: '2.0', id: call.id, error: { code, message: 'no' } });
      return errorIn(call.outcomes).fix;
    });
    expect(fixes).toEqual(['see "toolherd tools srv --schema"', 'see "toolherd logs srv"']);
  });

  it.each([
    [{ requiredCapabilities: { sampling: {}, elicitation: {} } }, 'sampling, elicitation'],
    [{ requiredCapabilities: {} }, 'it does not say what'],
    [{}, 'it does not say what'],
    [undefined, 'it does not say what'],
    [null, 'it does not say what'],
  ])('names the question of the server if no agent can answer: %j', (data, wanted) => {
    const { send, deliver } = harness();
    const call = send();
    deliver({ jsonrpc: '2.0', id: call.id, error: { code: -32021, message: 'no', data } });
    expect(errorIn(call.outcomes)).toMatchObject({
      why: `the server wants to ask something (${wanted}), and this caller cannot be asked`,
      fix: 'call it from an agent that can answer',
    });
  });

  it('settles everything at once when the server is gone, and marks sent calls (P4, I2)', () => {
    const { send, session } = harness({ maxInFlight: 2 });
    const calls = [send(), send(), send()];
    session.close(crash);
    const errors = calls.map(({ outcomes }) => errorIn(outcomes));
    expect(errors.map(({ sent, retryable }) => ({ sent, retryable }))).toEqual([
      { sent: true, retryable: false },
      { sent: true, retryable: false },
      { sent: false, retryable: true },
    ]);
    expect(session).toMatchObject({ state: 'closed', inFlight: 0, waiting: 0 });
  });

  it('stays consistent when a sink closes it, or sends the next call, inside settle', () => {
    const { session, clock, send, reply, requests } = harness();
    const other = send();
    const next: unknown[] = [];
    const settle = () => {
      session.send({ method: 'next' }, { settle: (outcome) => void next.push(outcome) });
      session.close(crash);
    };
    const first = session.send({ method: 'first' }, { settle });
    reply(first?.id);
    expect(requests().map(({ method }) => method)).toEqual(['tools/call', 'first', 'next']);
    expect([other.outcomes.length, next.length]).toEqual([1, 1]);
    expect(clock.pending).toBe(0);
  });

  it('is used once: calls after its end are refused, late replies reach no call', () => {
    const { send, session, reply, clock, requests } = harness();
    const before = send();
    session.close(crash);
    session.close(() => new Error('a second end') as never);
    reply(before.id);
    expect(before.outcomes).toHaveLength(1);
    expect(session.strays.replies).toBe(1);
    expect(errorIn(send().outcomes)).toMatchObject({
      type: 'ServerUnavailableError',
      sent: false,
      retryable: true,
    });
    expect(requests()).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  describe('when sealed', () => {
    it('lets calls in flight finish, fails waiting ones as unsent, refuses new ones', () => {
      const { send, session, reply } = harness({ maxInFlight: 1 });
      const [running, waiting] = [send(), send()];
      session.seal();
      expect(session.state).toBe('sealed');
      expect(errorIn(waiting.outcomes)).toMatchObject({
        type: 'ServerUnavailableError',
        sent: false,
        retryable: true,
      });
      expect(errorIn(send().outcomes)).toMatchObject({ type: 'ServerUnavailableError', sent: false });
      reply(running.id, { done: true });
      expect(running.outcomes).toEqual([{ ok: true, result: { done: true } }]);
    });

    it('writes none of the calls that waited for the wire', () => {
      const { send, session, wire, requests } = harness();
      wire.ready = false;
      const calls = [send(), send(), send()];
      wire.ready = true;
      session.seal();
      expect(requests()).toEqual([]);
      for (const { outcomes } of calls)
        expect(errorIn(outcomes)).toMatchObject({ sent: false, retryable: true });
    });

    it('writes nothing more', () => {
      const { send, session, requests, reply } = harness({ maxInFlight: 1 });
      const running = send();
      send();
      session.seal();
      reply(running.id);
      session.resume();
      expect(requests()).toHaveLength(1);
    });
  });

  describe('with a timeout', () => {
    it('fails a silent call in time, cancels it at the server, and drops the late reply (I2)', () => {
      const { send, clock, cancels, reply, session } = harness();
      const call = send('tools/call', {}, { timeoutMs: 100 });
      clock.advance(99);
      expect(call.outcomes).toEqual([]);
      clock.advance(30);
      expect(errorIn(call.outcomes)).toMatchObject({ type: 'MCPTimeoutError', sent: true, retryable: false });
      expect(errorIn(call.outcomes).message).toBe('srv: no reply to tools/call in 0.1 s');
      expect(cancels().map(({ params }) => params)).toEqual([{ requestId: call.id, reason: 'timeout' }]);
      reply(call.id);
      expect(call.outcomes).toHaveLength(1);
      expect(session.strays.replies).toBe(1);
    });

    it('extends it with progress, up to the hard total', () => {
      const { send, clock, progress } = harness();
      let heard = 0;
      const call = send('tools/call', {}, { progress: () => heard++ });
      for (let step = 0; step < 6; step += 1) {
        clock.advance(800);
        expect(call.outcomes).toEqual([]);
        progress(call.id);
      }
      expect(heard).toBe(6);
      clock.advance(300);
      expect(errorIn(call.outcomes).message).toBe('srv: tools/call was not done in 5 s, its hard limit');
    });

    it('FR-012: names the limit that ended the call: max_timeout, request_timeout or that of the caller', () => {
      const { send, clock } = harness();
      const limited = send('tools/call', {}, { timeoutMs: 9_000 });
      const own = send('tools/call', {}, { timeoutMs: 499.734619140625 });
      const plain = send('tools/call');
      clock.advance(6_000);
      const texts = [limited, own, plain].map(({ outcomes }) => {
        const { message, fix } = errorIn(outcomes);
        return `${message}; ${fix?.split(', or ')[1]}`;
      });
      expect(texts).toEqual([
        'srv: tools/call was not done in 5 s, its hard limit; raise max_timeout',
        'srv: no reply to tools/call in 0.5 s; raise the timeout of this call',
        'srv: no reply to tools/call in 1 s; raise request_timeout',
      ]);
    });

    it('does not let a call live longer for the progress of another (U4)', () => {
      const { send, clock, progress } = harness();
      const [a, b] = [
        send('a', {}, { progress: () => undefined }),
        send('b', {}, { progress: () => undefined }),
      ];
      clock.advance(800);
      progress(b.id);
      clock.advance(400);
      expect(errorIn(a.outcomes).type).toBe('MCPTimeoutError');
      expect(b.outcomes).toEqual([]);
    });

    it('fails a call that never got its turn as unsent, and never sends it', () => {
      const { send, clock, cancels, requests, reply } = harness({ maxInFlight: 1 });
      const first = send('first', {}, { timeoutMs: 4000 });
      const second = send('second');
      clock.advance(1100);
      expect(errorIn(second.outcomes)).toMatchObject({
        type: 'MCPTimeoutError',
        sent: false,
        retryable: true,
      });
      reply(first.id);
      expect(requests().map(({ method }) => method)).toEqual(['first']);
      expect(cancels()).toEqual([]);
    });

    it('takes the hard total where it is the shorter one', () => {
      const { send, clock } = harness({ timeoutMs: 10_000, maxTimeoutMs: 500 });
      const call = send();
      clock.advance(530);
      expect(errorIn(call.outcomes).type).toBe('MCPTimeoutError');
    });

    it('names the setting that helps: the hard total only where it is the longer one', () => {
      for (const [maxTimeoutMs, setting] of [
        [500, 'request_timeout'],
        [501, 'max_timeout'],
      ] as const) {
        const { send, session, clock } = harness({ timeoutMs: 500, maxTimeoutMs });
        const call = send();
        for (const running of session.running) running.hold();
        clock.advance(530);
        expect(errorIn(call.outcomes).fix).toContain(`raise ${setting}`);
      }
    });
  });

  describe('cancellation', () => {
    it('the cancellation of a call in flight is sent to the server once, and settles the call at once', () => {
      const { send, cancels } = harness();
      const call = send();
      call.handle?.cancel('no longer needed');
      call.handle?.cancel('again');
      expect(errorIn(call.outcomes)).toMatchObject({ type: 'CancelledError', sent: true, retryable: false });
      expect(cancels().map(({ params }) => params)).toEqual([
        { requestId: call.id, reason: 'no longer needed' },
      ]);
    });

    it('the cancellation of a waiting call is not sent to the server', () => {
      const { send, cancels, requests, reply } = harness({ maxInFlight: 1 });
      const [first, second] = [send(), send()];
      second.handle?.cancel();
      expect(errorIn(second.outcomes)).toMatchObject({ type: 'CancelledError', sent: false });
      reply(first.id);
      expect(requests()).toHaveLength(1);
      expect(cancels()).toEqual([]);
    });

    it('works by AbortSignal, before and during the call', async () => {
      const { session, requests, cancels } = harness();
      const before = await errorOf(
        session.call('x', {}, { signal: AbortSignal.abort(new Error('too late')) }),
      );
      expect(before).toMatchObject({ type: 'CancelledError', sent: false });
      expect(requests()).toEqual([]);
      const control = new AbortController();
      const call = errorOf(session.call('x', {}, { signal: control.signal }));
      control.abort('the user went home');
      const during = await call;
      expect(during).toMatchObject({ type: 'CancelledError', sent: true });
      expect(cancels()).toHaveLength(1);
      // both sides get the reason
      expect([before, during].map(({ message }) => message.split(': ').at(-1))).toEqual([
        'too late',
        'the user went home',
      ]);
      expect(cancels()[0]?.params?.reason).toBe('the user went home');
    });

    it('leaves no listener on the signal behind', async () => {
      const { session, reply, cancels } = harness();
      const control = new AbortController();
      for (let count = 0; count < 50; count += 1) {
        const call = session.call('x', {}, { signal: control.signal });
        reply(FIRST_CALL_ID + count);
        await call;
      }
      expect(getEventListeners(control.signal, 'abort')).toEqual([]);
      control.abort();
      expect(cancels()).toEqual([]);
    });
  });

  describe('with many calls', () => {
    it('lets max_in_flight through and the others wait in order', () => {
      const { send, session, requests, reply } = harness({ maxInFlight: 2 });
      const calls = ['a', 'b', 'c', 'd'].map((method) => send(method));
      expect(requests().map(({ method }) => method)).toEqual(['a', 'b']);
      expect(session).toMatchObject({ inFlight: 2, waiting: 2 });
      reply(calls[1]?.id);
      reply(calls[0]?.id);
      expect(requests().map(({ method }) => method)).toEqual(['a', 'b', 'c', 'd']);
    });

    it('refuses at the cap without queueing, by number and by bytes (U5)', () => {
      const byNumber = harness({ maxInFlight: 1, maxWaiting: 2 });
      for (let count = 0; count < 3; count += 1) byNumber.send();
      expect(errorIn(byNumber.send().outcomes)).toMatchObject({
        type: 'OverloadedError',
        sent: false,
        retryable: true,
        why: 'it is busy with as many as max_in_flight allows',
      });
      const byBytes = harness({ maxWaitingBytes: 1000 });
      byBytes.wire.ready = false;
      byBytes.send('x', { filler: 'x'.repeat(2000) });
      expect(errorIn(byBytes.send().outcomes)).toMatchObject({
        type: 'OverloadedError',
        why: 'it reads no input',
      });
      expect(byBytes.session.waiting).toBe(1);
    });

    it('is full when the bytes that wait reach the cap exactly (U5)', () => {
      const line = requestLine(FIRST_CALL_ID, 'x', {}, false);
      const { send, wire, session } = harness({ maxWaitingBytes: line.length });
      wire.ready = false;
      send('x');
      expect(errorIn(send('x').outcomes).type).toBe('OverloadedError');
      expect(session.waiting).toBe(1);
    });

    it('holds calls back while the wire takes none, and sends them when it does', () => {
      const { send, wire, session, requests } = harness();
      wire.ready = false;
      send('a');
      send('b');
      expect(requests()).toEqual([]);
      wire.ready = true;
      session.resume();
      expect(requests().map(({ method }) => method)).toEqual(['a', 'b']);
    });

    it('fails a call whose line the wire refused as unsent', () => {
      const { send, wire, clock } = harness();
      wire.accepts = false;
      expect(errorIn(send().outcomes)).toMatchObject({ type: 'ServerUnavailableError', sent: false });
      // and nothing waits for it to be late
      expect(clock.pending).toBe(0);
    });

    it('survives ten thousand waiting calls that are all refused', () => {
      const { send, wire, session } = harness();
      wire.ready = false;
      const calls = Array.from({ length: 10_000 }, () => send());
      wire.ready = true;
      wire.accepts = false;
      session.resume();
      expect(calls.every(({ outcomes }) => outcomes.length === 1)).toBe(true);
    });
  });

  describe('with a server that cannot be trusted', () => {
    it('counts duplicate and forged replies and delivers them to no call (U4)', () => {
      const { send, reply, session } = harness({ maxInFlight: 1 });
      const [sent, waiting] = [send(), send()];
      reply(waiting.id, { forged: true });
      reply((sent.id ?? 0) + 1000, { forged: true });
      reply(sent.id, { first: true });
      reply(sent.id, { second: true });
      expect(sent.outcomes).toEqual([{ ok: true, result: { first: true } }]);
      expect(waiting.outcomes).toEqual([]);
      expect(session.strays.replies).toBe(3);
    });

    it('delivers progress to its own call only (U4)', () => {
      const { send, progress, session } = harness();
      let heard = 0;
      const asked = send('a', {}, { progress: () => heard++ });
      const silent = send('b');
      for (const token of [silent.id, String(asked.id), 0, undefined]) progress(token);
      expect(heard).toBe(0);
      expect(session.strays.progress).toBe(4);
      progress(asked.id);
      expect(heard).toBe(1);
    });

    it('passes no progress on that does not say how much (U4)', () => {
      const { send, deliver, session } = harness();
      let heard = 0;
      const { id: progressToken } = send('a', {}, { progress: () => heard++ });
      for (const params of [{}, { progress: '1' }, { progress: null }])
        deliver({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, ...params } });
      expect([heard, session.strays.progress]).toEqual([0, 3]);
    });

    it('fails the one call that a broken reply can mean, and none where it could be two (U8)', () => {
      const { send, session } = harness();
      const [a, b, c] = [send(), send(), send()];
      session.deliver(Buffer.from(`{"jsonrpc":"2.0","id":${a.id},"id":${b.id},"result":{}}`));
      expect([a, b].flatMap(({ outcomes }) => outcomes)).toEqual([]);
      expect(session.strays.broken).toBe(1);
      session.deliver(Buffer.from(`{"jsonrpc":"2.0","id":${c.id},"id":9,"result":{}}`));
      expect(errorIn(c.outcomes)).toMatchObject({ type: 'MCPProtocolError', sent: true });
      session.deliver(Buffer.from(`{"jsonrpc":"2.0","id":"${a.id}","result":{}}`));
      expect(errorIn(a.outcomes).message).toContain('came back as a string');
    });

    it('fails only the call whose reply was too large (U3)', () => {
      const { send, session } = harness();
      const [a, b] = [send(), send()];
      const head = Buffer.from(`{"jsonrpc":"2.0","id":${a.id},"result":{"x":"`);
      expect(session.deliverOversized({ bytes: 99, head, tail: Buffer.from('"}}') })).toBe(true);
      expect(errorIn(a.outcomes)).toMatchObject({ type: 'ResultTooLargeError', sent: true });
      expect(b.outcomes).toEqual([]);
      expect(session.deliverOversized({ bytes: 99, head: Buffer.from('x'), tail: Buffer.from('x') })).toBe(
        false,
      );
      expect(session.strays.oversized).toBe(1);
    });

    it('passes messages that belong to no call to `other`', () => {
      const { deliver, others } = harness();
      deliver({ jsonrpc: '2.0', id: 0, result: {} });
      deliver({ jsonrpc: '2.0', id: 'x', method: 'roots/list' });
      deliver({ jsonrpc: '2.0', method: 'notifications/message', params: {} });
      expect(others.map(({ kind }) => kind)).toEqual(['result', 'request', 'notification']);
    });
  });

  describe('with a caller that cannot be trusted', () => {
    it('never sends its progress token', () => {
      const { send, requests } = harness();
      send('a', { _meta: { progressToken: 'mine', keep: 1 }, name: 'x' });
      const asked = send('b', { _meta: { progressToken: 'mine', keep: 1 } }, { progress: () => undefined });
      expect(requests().map(({ params }) => params)).toEqual([
        { _meta: { keep: 1 }, name: 'x' },
        { _meta: { keep: 1, progressToken: asked.id } },
      ]);
    });

    it('is not harmed by params that cannot be written', () => {
      const { send, requests } = harness();
      const circle: Record<string, unknown> = {};
      circle.self = circle;
      expect(errorIn(send('x', circle).outcomes)).toMatchObject({ type: 'MCPProtocolError', sent: false });
      send('y');
      expect(requests().map(({ method }) => method)).toEqual(['y']);
    });

    it('is not harmed by a sink that throws', () => {
      const { session, send, reply, faults } = harness();
      const boom = () => {
        throw new Error('boom');
      };
      const handle = session.send({ method: 'x' }, { settle: boom, progress: boom });
      const other = send();
      session.deliver(
        Buffer.from(
          `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${handle?.id},"progress":1}}`,
        ),
      );
      reply(handle?.id);
      reply(other.id);
      expect(faults).toHaveLength(2);
      expect(other.outcomes).toHaveLength(1);
      expect(session.inFlight).toBe(0);
    });
  });

  it('settles each call once, even when one of them ends the others while the session closes (I2)', () => {
    const { session } = harness();
    const settled: number[] = [];
    const handles = [0, 1, 2].map((number) =>
      session.send(
        { method: 'x' },
        {
          settle: () => {
            settled.push(number);
            for (const handle of handles) handle?.cancel();
          },
        },
      ),
    );
    session.close(crash);
    expect(settled).toEqual([0, 1, 2]);
  });

  it('keeps nothing of a settled call, also no deadline', () => {
    const { send, reply, clock } = harness({ timeoutMs: 60_000, maxTimeoutMs: 60_000 });
    for (let count = 0; count < 50; count += 1) {
      reply(send().id);
      clock.advance(1000);
    }
    clock.advance(200_000);
    expect(clock.armed).toBeLessThan(4);
    expect(clock.pending).toBe(0);
  });

  it('sends waiting calls with the next call, in order, if the wire became ready without an event', () => {
    const { send, wire, requests } = harness();
    wire.ready = false;
    const first = send();
    wire.ready = true;
    const second = send();
    expect(requests().map(({ id }) => id)).toEqual([first.id, second.id]);
  });

  it('knows when the server last sent anything, in any form; 0 is never', () => {
    const { session, send, clock, deliver } = harness();
    send();
    expect(session.lastReceivedAt).toBe(0);
    clock.advance(100);
    deliver({ jsonrpc: '2.0', method: 'notifications/message' });
    const first = clock.now();
    expect(session.lastReceivedAt).toBe(first);
    clock.advance(100);
    session.deliverParsed('nonsense');
    expect(session.lastReceivedAt).toBe(first + 100);
  });

  it('knows when it was last used, without an event per call; a new one was used when it began', () => {
    const { session, send, clock, reply } = harness();
    const start = clock.now();
    expect(session.lastActivityAt).toBe(start);
    clock.advance(100);
    const call = send();
    expect(session.lastActivityAt).toBe(start + 100);
    clock.advance(100);
    reply(call.id);
    expect(session.lastActivityAt).toBe(start + 200);
    clock.advance(100);
    expect(session.lastActivityAt).toBe(start + 200);
  });

  it("is not in use by toolherd's own requests, waiting, in flight or ended", () => {
    const { session, send, clock, wire, reply } = harness();
    const start = clock.now();
    const use = () => [session.isInUse, session.callsInFlight, session.inFlight, session.waiting];
    const ask = () => session.send({ method: 'tools/list', isOwn: true }, { settle: () => undefined });
    clock.advance(100);
    const own = ask();
    expect(use()).toEqual([false, 0, 1, 0]);
    wire.ready = false;
    ask()?.cancel();
    ask();
    expect(use()).toEqual([false, 0, 1, 1]);
    reply(own?.id);
    expect([...use(), session.lastActivityAt]).toEqual([false, 0, 0, 1, start]);
    const waiting = send();
    expect([...use(), session.lastActivityAt]).toEqual([true, 0, 0, 2, start + 100]);
    wire.ready = true;
    session.resume();
    expect(use()).toEqual([true, 1, 2, 0]);
    reply(waiting.id);
    expect(use()).toEqual([false, 0, 1, 0]);
  });
});
