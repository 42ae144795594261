import { Writable } from 'node:stream';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Text } from '../../../src/ipc/jsonrpc/pending-texts.js';
import { WriteQueue } from '../../../src/ipc/jsonrpc/write-queue.js';

type When = 'now' | 'soon' | 'later';
type Sent = { kind: 'text' | 'pieces'; sizes: readonly number[]; when: When };

const WHEN: Record<When, (run: () => void) => void> = {
  now: (run) => run(),
  soon: (run) => process.nextTick(run),
  later: (run) => void setImmediate(run),
};
const when = fc.constantFrom<When>('now', 'soon', 'later');
/** Near to what changes the way: one write, an early one, a slice, several turns. */
const size = fc.oneof(
  fc.integer({ min: 1, max: 300 }),
  fc.integer({ min: 4000, max: 4200 }),
  fc.integer({ min: 65_500, max: 65_600 }),
  fc.integer({ min: 1, max: 300_000 }),
);
const sent: fc.Arbitrary<Sent> = fc.record({
  kind: fc.constantFrom('text', 'pieces'),
  sizes: fc.array(size, { minLength: 1, maxLength: 4 }),
  when,
});

/** Takes what it is given when it likes to, and looks at it only then; beyond some bytes nothing more. */
function reader(pace: readonly When[], breaksAt: number) {
  let heard = '';
  let turn = 0;
  const take = (chunks: readonly Buffer[], done: (error?: Error) => void) => {
    turn += 1;
    WHEN[pace[turn % pace.length]!](() => {
      for (const chunk of chunks) heard += chunk.toString('latin1');
      done(heard.length >= breaksAt ? new Error('it broke') : undefined);
    });
  };
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => take([chunk], done),
    writev: (chunks, done) =>
      take(
        chunks.map(({ chunk }) => chunk as Buffer),
        done,
      ),
  });
  stream.on('error', () => undefined);
  return { stream, heard: () => heard };
}

async function send(texts: readonly Sent[], pace: readonly When[], breaksAt: number) {
  const { stream, heard } = reader(pace, breaksAt);
  const spent: Buffer[] = [];
  const queue = new WriteQueue(stream, (reason) => expect.fail(reason), {
    spent: (piece) => {
      // another's bytes are in it from now on
      piece.fill('!');
      spent.push(piece);
    },
  });
  stream.on('close', () => queue.close());
  const pieces: Buffer[] = [];
  let expected = '';
  for (const [at, { kind, sizes, when: next }] of texts.entries()) {
    const parts = sizes.map((bytes, part) => Buffer.alloc(bytes, `${at}.${part};`));
    const whole = Buffer.concat(parts).toString('latin1');
    const text: Text = kind === 'text' ? whole : parts;
    if (kind === 'pieces') pieces.push(...parts);
    expected += whole;
    queue.send(text);
    await new Promise<void>((resolve) => WHEN[next](resolve));
  }
  await queue.emptied();
  return { queue, heard: heard(), expected, spent, pieces };
}

it('any texts are written once and in order, and each piece is reported once after it was written (U8)', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(sent, { maxLength: 12 }),
      fc.array(when, { minLength: 1, maxLength: 5 }),
      async (texts, pace) => {
        const { queue, heard, expected, spent, pieces } = await send(texts, pace, Number.POSITIVE_INFINITY);
        expect(heard === expected).toBe(true);
        expect([queue.queued, spent.length]).toEqual([0, pieces.length]);
        expect(spent.every((piece, at) => piece === pieces[at])).toBe(true);
      },
    ),
    { seed: 20_261_116, numRuns: 80 },
  );
});

it('a client that breaks has got a prefix of its texts, and blocks no other work (U8, S9)', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(sent, { minLength: 1, maxLength: 12 }),
      fc.array(when, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 0, max: 500_000 }),
      async (texts, pace, breaksAt) => {
        const { heard, expected, spent, pieces } = await send(texts, pace, breaksAt);
        expect(expected.startsWith(heard)).toBe(true);
        expect(spent.every((piece, at) => piece === pieces[at])).toBe(true);
      },
    ),
    { seed: 20_261_116, numRuns: 50 },
  );
});
