import { describe, expect, it } from 'vitest';
import { MCPConnectionError, ResultTooLargeError } from '../../../src/shared/call-errors.js';
import { harness } from './harness.js';

const MANY = 5000;

/** A session whose calls have callers. */
function createSession(options: Parameters<typeof harness>[0] = {}) {
  const one = harness({ maxInFlight: MANY, ...options });
  const { session } = one;
  const call = (caller: string | undefined, acceptsRaw = false) => {
    const handle = session.send({ method: 'tools/call', caller }, { settle: () => undefined, acceptsRaw });
    if (handle === undefined) throw new Error('it was refused');
    return handle;
  };
  const callers = () => [...session.unansweredCallers].sort();
  const line = (text: string) => session.deliver(Buffer.from(text));
  return { ...one, call, callers, line };
}

describe('calls that ended without a reply', () => {
  it('count for their callers when they were cancelled, timed out or lost, and only if the server has them', () => {
    const { session, clock, wire, call, callers } = createSession();
    call('cancelled').cancel();
    session.lose(call('lost').id, new MCPConnectionError('cut', { sent: true }));
    session.lose(call('refused').id, new MCPConnectionError('not taken', { sent: false }));
    call(undefined).cancel();
    call('timed out');
    clock.advance(1000);
    wire.ready = false;
    call('waiting').cancel();
    wire.ready = true;
    wire.accepts = false;
    call('not written');
    expect(callers()).toEqual(['cancelled', 'lost', 'timed out']);
  });

  const LONG = 'x'.repeat(20_000);
  const LATE: [string, (id: number) => string][] = [
    ['a result', (id) => `{"jsonrpc":"2.0","id":${id},"result":{}}`],
    ['an error', (id) => `{"jsonrpc":"2.0","id":${id},"error":{"code":1,"message":"cancelled"}}`],
    ['a long result', (id) => `{"jsonrpc":"2.0","id":${id},"result":{"text":"${LONG}"}}`],
    ['a batch', (id) => `[{"jsonrpc":"2.0","id":${id},"result":{}}]`],
    ['a string for an id', (id) => `{"jsonrpc":"2.0","id":"${id}","result":{}}`],
    ['noise around a result', (id) => `oops {"jsonrpc":"2.0","id":${id},"result":{}}`],
  ];

  it.each(LATE)('count until the server has answered: %s', (_, reply) => {
    const { call, callers, line } = createSession();
    const [first, second] = [call('a'), call('a')];
    // a call that takes bytes is in flight, so that long lines are not parsed
    call('b', true);
    first.cancel();
    second.cancel();
    line(reply(first.id));
    expect(callers()).toEqual(['a']);
    line(reply(first.id));
    expect(callers()).toEqual(['a']);
    line(reply(second.id));
    expect(callers()).toEqual([]);
  });

  it('count until the server has answered: a result that was too long to keep', () => {
    const { session, call, callers } = createSession();
    const { id } = call('a');
    session.send({ method: 'tools/call', caller: 'b' }, { settle: () => undefined });
    call('a').cancel();
    session.lose(id, new MCPConnectionError('cut', { sent: true }));
    const oversized = (of: number) => {
      const head = Buffer.from(`{"jsonrpc":"2.0","id":${of},"result":{"text":"`);
      session.deliverOversized({ bytes: 10 ** 9, head, tail: Buffer.from('"}}') });
    };
    oversized(id);
    expect(callers()).toEqual(['a']);
    oversized(id + 2);
    expect(callers()).toEqual([]);
  });

  it('do not count where the reply came and could not be kept', () => {
    const { session, call, callers } = createSession();
    const tooLarge = new ResultTooLargeError('too large', { sent: true });
    const { id } = call('a');
    expect([session.loseReply(id, tooLarge), session.loseReply(id, tooLarge)]).toEqual([true, false]);
    expect([callers(), session.inFlight]).toEqual([[], 0]);
  });

  it('a line that could answer two of them answers neither', () => {
    const { call, callers, line } = createSession();
    const [a, b] = [call('a'), call('b')];
    a.cancel();
    b.cancel();
    const reply = (id: number) => `{"jsonrpc":"2.0","id":${id},"result":{}}`;
    line(`${reply(a.id)}${reply(b.id)}`);
    expect(callers()).toEqual(['a', 'b']);
  });

  it('are bounded in memory: of too many the oldest count for their caller for good', () => {
    const { call, callers, reply } = createSession();
    const calls = Array.from({ length: MANY }, () => call('a'));
    for (const each of calls) each.cancel();
    expect(callers()).toEqual(['a']);
    for (const { id } of calls) reply(id);
    expect(callers()).toEqual(['a']);
    const others = Array.from({ length: MANY }, (_, index) => call(`other ${index}`));
    for (const each of others) each.cancel();
    expect(callers().length).toBeLessThan(1100);
    for (const { id } of others) reply(id);
    // two callers count as all: they cannot be distinguished
    expect(callers()).toEqual(['a', 'other 0']);
  });
});
