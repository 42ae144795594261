import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeFrame } from '../../src/cluster/frames.js';
import { NatsStream, WINDOW_BYTES } from '../../src/cluster/nats-stream.js';

/** Two ends, whose messages arrive in order and later. */
function connected(maxPayload: number) {
  const queue: (() => void)[] = [];
  const sizes: number[] = [];
  const end = (other: () => NatsStream) =>
    new NatsStream({
      maxPayload,
      allowHalfOpen: true,
      away: (why) => new Error(why),
      closed: () => undefined,
      send: (message) => {
        sizes.push(message.length);
        const frame = decodeFrame(message)!;
        queue.push(() => other().receive(frame));
      },
    });
  const one: NatsStream = end(() => two);
  const two: NatsStream = end(() => one);
  const deliver = (count: number) => {
    for (const arrive of queue.splice(0, count)) arrive();
  };
  return { one, two, queue, sizes, deliver };
}

const writes = fc.array(fc.integer({ min: 1, max: 300_000 }), { maxLength: 12 });

it('every byte arrives once and in order, whatever is written, read and delivered when; memory is bounded', async () => {
  await fc.assert(
    fc.asyncProperty(
      writes,
      writes,
      fc.integer({ min: 1100, max: 200_000 }),
      fc.array(fc.constantFrom('deliver one', 'deliver all', 'turn', 'read', 'pause'), { maxLength: 40 }),
      async (forth, back, maxPayload, steps) => {
        const { one, two, queue, sizes, deliver } = connected(maxPayload);
        const sent = [forth, back].map((lengths, side) =>
          Buffer.concat(lengths.map((length, index) => Buffer.alloc(length, `${side}${index}|`))),
        );
        const got = [two, one].map((stream) => {
          const chunks: Buffer[] = [];
          stream.on('data', (chunk: Buffer) => chunks.push(chunk));
          stream.pause();
          const ended = new Promise<void>((resolve) => void stream.once('end', resolve));
          return { chunks, ended };
        });
        let at = [0, 0];
        for (const [side, lengths] of [forth, back].entries())
          for (const length of lengths) {
            const stream = side === 0 ? one : two;
            stream.write(sent[side]!.subarray(at[side]!, at[side]! + length));
            at = at.map((value, index) => (index === side ? value + length : value));
          }
        for (const step of steps) {
          if (step === 'deliver one') deliver(1);
          else if (step === 'deliver all') deliver(queue.length);
          else if (step === 'turn') await nextTurn();
          else if (step === 'read') for (const stream of [one, two]) stream.resume();
          else for (const stream of [one, two]) stream.pause();
          for (const stream of [one, two])
            expect(stream.readableLength).toBeLessThanOrEqual(WINDOW_BYTES + 70_000);
        }
        one.end();
        two.end();
        for (const stream of [one, two]) stream.resume();
        const done = Promise.all(got.map(({ ended }) => ended)).then(() => true);
        while ((await Promise.race([done, nextTurn(false)])) === false) deliver(queue.length);
        expect(got.map(({ chunks }, side) => Buffer.concat(chunks).equals(sent[side]!))).toEqual([
          true,
          true,
        ]);
        expect(Math.max(...sizes)).toBeLessThanOrEqual(maxPayload);
        expect([one.errored, two.errored]).toEqual([null, null]);
      },
    ),
    { numRuns: 60 },
  );
}, 60_000);

it('a side that sends more than it may is cut off', async () => {
  const { one } = connected(100_000);
  one.pause();
  const data = Buffer.alloc(90_000);
  for (let number = 0; !one.destroyed && number < 100; number += 1)
    one.receive({ kind: 'data', number, taken: 0, data });
  expect(one.errored?.message).toBe('it sent more than was allowed');
});

it('a side that acknowledges what was not sent is cut off', () => {
  const { one } = connected(100_000);
  one.receive({ kind: 'credit', number: 0, taken: 1, data: Buffer.alloc(0) });
  expect(one.errored?.message).toBe('it acknowledged bytes that were not sent');
});
