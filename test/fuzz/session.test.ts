import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FIRST_CALL_ID } from '../../src/link/calls/reply-router.js';
import type { Outcome } from '../../src/shared/call-sink.js';
import { Framer } from '../../src/shared/framing/framer.js';
import { counts, measured } from '../faults/measured.js';
import { harness } from '../link/calls/harness.js';
import { cutInto, legible, mutated } from './mutations.js';
import { PATIENCE_MS, runs } from './runs.js';

const LONG = 'x'.repeat(17_000);
const [FIRST, SECOND] = [FIRST_CALL_ID, FIRST_CALL_ID + 1];
const head = '"jsonrpc":"2.0"';
const result = (text: string) =>
  `"result":{"content":[{"type":"text","text":"${text}"}],"n":[1.5e3,-0,true,null,{"a":"\\u00e4\\\\ä"}]}`;

const REPLIES = [
  `{${head},"id":${FIRST},${result('short')}}`,
  `{${result('short')},${head},"id":${FIRST}}`,
  `{${head},"id":${FIRST},${result(LONG)}}`,
  `{"id":${FIRST},${result(LONG)},${head}}`,
  `{${result(LONG)},"id":${FIRST},${head}}`,
  `{${head},"id":${FIRST},"error":{"code":1,"message":"no","data":{"a":[1]}}}`,
  `[{${head},"id":${FIRST},${result('in a batch')}}]`,
  `{${head},"method":"notifications/progress","params":{"progressToken":${FIRST},"progress":1}}`,
  `{${head},"id":5,"method":"ping"}`,
];

/** A line as JSON.parse reads it: its reply, if it is one and has one id. */
function replyIn(line: Buffer): { id: unknown; value: Record<string, unknown> } | undefined {
  try {
    const value: unknown = JSON.parse(line.toString());
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const message = value as Record<string, unknown>;
    const isReply = ('result' in message || 'error' in message) && message.method === undefined;
    return isReply && isUtf8(line) ? { id: message.id, value: message } : undefined;
  } catch {
    return undefined;
  }
}

/** Two calls to a session that is given these bytes as they would come over a pipe; each takes results unread, or not. */
function deliver(bytes: Buffer, cuts: readonly number[], acceptsRaw: boolean) {
  const world = harness({ timeoutMs: 1000, maxTimeoutMs: 1000 });
  const calls = [FIRST, SECOND].map((id) => {
    const outcomes: Outcome[] = [];
    const sink = {
      settle: (outcome: Outcome) => void outcomes.push(outcome),
      progress: () => undefined,
      acceptsRaw,
    };
    expect(world.session.send({ method: 'tools/call', params: {} }, sink)?.id).toBe(id);
    return outcomes;
  });
  const lines: Buffer[] = [];
  const framer = new Framer(100_000, {
    line: (line) => {
      lines.push(Buffer.from(line));
      world.session.deliver(line);
    },
    long: () => world.session.deliverLong(),
    oversized: (line) => void world.session.deliverOversized(line),
  });
  for (const piece of cutInto(bytes, cuts)) framer.push(Buffer.from(piece));
  const early = calls.map((outcomes) => outcomes.length);
  world.clock.advance(5000);
  return { calls, early, faults: world.faults, session: world.session };
}

/** As the caller gets it; a result that was not parsed is its text. */
const shown = ([outcome]: Outcome[]) =>
  outcome?.ok ? { ok: true, result: outcome.result } : { ok: false, type: outcome?.error.type };

describe('L3: for any bytes from a server', () => {
  it(
    'each call settles once, with the value that JSON.parse gives for the line with its id, raw or parsed',
    () => {
      const reached = new Map<string, number>();
      const bytes = fc
        .array(mutated(REPLIES, 0), { minLength: 1, maxLength: 3 })
        .map((parts) => legible(Buffer.concat(parts.flatMap((part) => [part, Buffer.from('\n')]))));
      fc.assert(
        fc.property(bytes, fc.array(fc.nat(), { maxLength: 4 }), (input, cuts) => {
          const unread = deliver(input, cuts, true);
          const read = deliver(input, [], false);
          for (const { calls, faults, session } of [unread, read]) {
            expect(calls.map(({ length }) => length)).toEqual([1, 1]);
            expect(faults).toEqual([]);
            expect(session).toMatchObject({ inFlight: 0, waiting: 0 });
          }
          expect(unread.calls.map(shown)).toEqual(read.calls.map(shown));
          const [outcome] = unread.calls[0]!;
          reached.set(
            outcome?.ok ? ('raw' in outcome ? 'unread' : 'read') : 'error',
            (reached.get(outcome?.ok ? ('raw' in outcome ? 'unread' : 'read') : 'error') ?? 0) + 1,
          );
          // the second call got no reply
          if (!input.includes(String(SECOND))) expect(unread.early[1]).toBe(0);
          if (!outcome?.ok || input.includes('[{')) return;
          const lines = input
            .toString('latin1')
            .split('\n')
            .map((line) =>
              replyIn(
                Buffer.from(line.replace(/\r$/, ''), 'latin1').subarray(
                  line.startsWith('\xef\xbb\xbf') ? 3 : 0,
                ),
              ),
            );
          const own = lines.find((line) => line?.id === FIRST);
          expect(own?.value).toMatchObject({ jsonrpc: '2.0', id: FIRST });
          expect(outcome.result).toEqual(own?.value.result);
        }),
        runs(400, 60_000),
      );
      measured(`L3: outcomes of calls whose replies were mutated: ${counts(reached)}`);
      for (const kind of ['unread', 'read', 'error'])
        expect(reached.get(kind) ?? 0, kind).toBeGreaterThan(15);
    },
    PATIENCE_MS,
  );

  it(
    'the framer gives the same lines for any split, each complete or reported as too long',
    () => {
      const framed = (pieces: readonly Buffer[], takesLong: boolean) => {
        const seen: string[] = [];
        let taken = '';
        const framer = new Framer(20_000, {
          line: (line) => void seen.push(`line ${line.toString('latin1')}`),
          ...(takesLong && {
            long: () => {
              taken = '';
              return {
                push: (piece: Buffer) => {
                  taken += piece.toString('latin1');
                },
                end: (whole: readonly Buffer[]) => {
                  const text = Buffer.concat(whole).toString('latin1');
                  // a carriage return in front of the newline comes, and is no part of the line
                  expect([text, `${text}\r`]).toContain(taken);
                  seen.push(`line ${text}`);
                },
              };
            },
          }),
          oversized: ({ bytes, head: start, tail }) =>
            void seen.push(
              `over ${bytes} ${start.toString('latin1')} ${tail.toString('latin1').slice(-1000)}`,
            ),
        });
        for (const piece of pieces) framer.push(Buffer.from(piece));
        return [...seen, `pending ${framer.pending}`];
      };
      const part = fc.oneof(
        fc.uint8Array({ maxLength: 40 }).map((raw) => Buffer.from(raw)),
        fc
          .tuple(
            fc.constantFrom(16_383, 16_384, 19_999, 20_000, 20_001, 20_002, 45_000),
            fc.constantFrom('\n', '\r\n', '\r\r\n', ''),
          )
          .map(([size, end]) => Buffer.from('y'.repeat(size) + end)),
      );
      fc.assert(
        fc.property(fc.array(part, { maxLength: 5 }), fc.array(fc.nat(), { maxLength: 6 }), (parts, cuts) => {
          const bytes = Buffer.concat(parts);
          const whole = framed([bytes], false);
          expect(framed(cutInto(bytes, cuts), false)).toEqual(whole);
          expect(framed(cutInto(bytes, cuts), true)).toEqual(whole);
          const lines = bytes
            .toString('latin1')
            .split('\n')
            .slice(0, -1)
            .map((line) => line.replace(/\r$/, ''))
            .filter((line) => line !== '');
          expect(
            whole.slice(0, -1).map((line) => (line.startsWith('line') ? line.slice(5) : 'over')),
          ).toEqual(lines.map((line) => (line.length > 20_000 ? 'over' : line)));
        }),
        runs(200, 30_000),
      );
    },
    PATIENCE_MS,
  );
});
