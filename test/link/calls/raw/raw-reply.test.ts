// isolated: counts what the whole process calls on JSON and Buffer
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CallSink, Outcome } from '../../../../src/shared/call-sink.js';
import { LONG_BYTES } from '../../../../src/shared/framing/framer.js';
import { harness } from '../harness.js';

const TEXT = 'x'.repeat(LONG_BYTES);
const RESULT = `{"content":[{"type":"text","text":"${TEXT}"}]}`;
const replyTo = (id: number | undefined, result = RESULT) =>
  Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);

/** A call whose sink accepts bytes. */
function passing(session: ReturnType<typeof harness>['session'], more: Partial<CallSink> = {}) {
  const outcomes: Outcome[] = [];
  const settle = (outcome: Outcome) => outcomes.push(outcome);
  const handle = session.send({ method: 'tools/call' }, { settle, acceptsRaw: true, ...more });
  return { outcomes, id: handle?.id };
}

const rawIn = ([outcome]: Outcome[]) =>
  outcome?.ok && outcome.raw && Buffer.concat(outcome.raw.pieces).toString();

afterEach(() => void vi.restoreAllMocks());

describe('a long reply', () => {
  it('reaches a sink that accepts bytes as its bytes, and is never parsed nor decoded', () => {
    const { session } = harness();
    const { outcomes, id } = passing(session);
    const [parse, stringify] = [vi.spyOn(JSON, 'parse'), vi.spyOn(JSON, 'stringify')];
    const decode = vi.spyOn(Buffer.prototype, 'toString');
    const join = vi.spyOn(Buffer, 'concat');
    const line = session.deliverLong();
    const bytes = replyTo(id);
    const pieces = [bytes.subarray(0, 30), bytes.subarray(30, 9000), bytes.subarray(9000)];
    for (const piece of pieces) line?.push(piece);
    line?.end(pieces);
    expect([parse, stringify, join].map((spy) => spy.mock.calls.length)).toEqual([0, 0, 0]);
    const decoded = decode.mock.results.map(({ value }) => String(value).length);
    expect(Math.max(...decoded)).toBeLessThan(30);
    vi.restoreAllMocks();
    expect(rawIn(outcomes)).toBe(RESULT);
    expect(session.inFlight).toBe(0);
  });

  it('is the same when it came in one piece', () => {
    const { session } = harness();
    const { outcomes, id } = passing(session);
    session.deliver(replyTo(id));
    expect(rawIn(outcomes)).toBe(RESULT);
  });

  it('is parsed when its result is read', () => {
    const { session, send } = harness();
    const [handsOn, looks] = [passing(session), send()];
    session.deliver(replyTo(looks.id));
    expect(looks.outcomes).toEqual([{ ok: true, result: { content: [{ type: 'text', text: TEXT }] } }]);
    session.deliver(replyTo(handsOn.id));
    const [outcome] = handsOn.outcomes;
    expect(outcome?.ok && outcome.result).toEqual({ content: [{ type: 'text', text: TEXT }] });
    expect(JSON.stringify(outcome?.ok && outcome.raw)).toBe(RESULT);
  });

  it('is not scanned where no sink accepts bytes', () => {
    const { session, send } = harness();
    send();
    expect(session.deliverLong()).toBeUndefined();
  });

  it('is parsed where a result may ask for input (2026-07-28)', async () => {
    const asked: unknown[] = [];
    const { session } = harness({
      inputRequired: async (_, result) => {
        asked.push(result.requestState);
        return {};
      },
    });
    const { outcomes, id } = passing(session);
    expect(session.deliverLong()).toBeUndefined();
    session.deliver(replyTo(id, `{"resultType":"input_required","requestState":"s","a":"${TEXT}"}`));
    expect([asked, outcomes]).toEqual([['s'], []]);
  });

  it('that is short is parsed, and its text kept for a sink that accepts it', () => {
    const { session } = harness();
    const { outcomes, id } = passing(session);
    session.deliver(replyTo(id, '{"a":1}'));
    expect(outcomes).toEqual([{ ok: true, result: { a: 1 }, text: '{"a":1}' }]);
  });

  it('a reply with a line break in it, as a WebSocket may bring, does not pass as bytes', () => {
    const { session } = harness();
    const { outcomes, id } = passing(session);
    session.deliver(replyTo(id, `{\n"a":"${TEXT}"\n}`));
    expect(outcomes).toEqual([{ ok: true, result: { a: TEXT } }]);
    expect(rawIn(outcomes)).toBeUndefined();
  });

  it('a reply to a call that has settled reaches no call, and is counted without a parse (U4)', () => {
    const { session } = harness();
    const [late, other] = [passing(session), passing(session)];
    session.deliver(replyTo(late.id));
    const parse = vi.spyOn(JSON, 'parse');
    session.deliver(replyTo(late.id));
    session.deliver(replyTo((other.id ?? 0) + 1));
    expect(parse).not.toHaveBeenCalled();
    expect([late.outcomes.length, other.outcomes, session.strays.replies]).toEqual([1, [], 2]);
  });

  it('a reply to the handshake reaches the driver', () => {
    const { session, others } = harness();
    passing(session);
    session.deliver(replyTo(5));
    expect(others).toMatchObject([{ kind: 'result', id: 5 }]);
  });
});
