import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { WriteQueue } from '../../../src/ipc/jsonrpc/write-queue.js';
import { FakeClock } from '../support.js';

const LIMITS = { softBytes: 200_000, hardBytes: 1_000_000, stallMs: 5000 };

/** A client that reads when the test orders it. */
function slowClient(spent?: (piece: Buffer) => void) {
  const writes: string[] = [];
  let take: (() => void) | undefined;
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      writes.push(chunk.toString());
      take = done;
    },
  });
  const clock = new FakeClock();
  const drops: string[] = [];
  const queue = new WriteQueue(
    stream,
    (reason) => {
      drops.push(reason);
      queue.close();
    },
    { clock, limits: LIMITS, spent },
  );
  const tick = () => new Promise(setImmediate);
  const takeOne = async () => {
    take?.();
    await tick();
  };
  return { queue, writes, clock, drops, tick, takeOne };
}

describe('the write queue', () => {
  it('makes one write of all texts of a tick, also from promises, if the last tick had more than one', async () => {
    const { queue, writes, tick, takeOne } = slowClient();
    const sendThree = () => {
      queue.send('a');
      void Promise.resolve().then(() => queue.send('b'));
      process.nextTick(() => queue.send('ä'));
    };
    sendThree();
    await tick();
    while (queue.queued > 0) await takeOne();
    writes.length = 0;
    sendThree();
    await tick();
    expect(writes).toHaveLength(1);
    expect([...(writes[0] ?? '')].sort().join('')).toBe('abä');
    expect(queue.queued).toBe(4);
  });

  it('writes the first text of a turn at once if the last turn had one, and the rest in one write after it', async () => {
    const { queue, writes, tick, takeOne } = slowClient();
    for (const text of ['a', 'b', 'c']) {
      queue.send(text);
      expect(writes.join('')).toBe('a');
    }
    await tick();
    expect(writes).toEqual(['a']);
    await takeOne();
    expect(writes).toEqual(['a', 'bc']);
    await takeOne();
    // now more than one is likely
    queue.send('d');
    expect(writes).toEqual(['a', 'bc']);
    await tick();
    await takeOne();
    queue.send('e');
    expect(writes).toEqual(['a', 'bc', 'd', 'e']);
  });

  it('does not count a text that waited for a slow client as part of the next turn', async () => {
    const { queue, writes, tick, takeOne } = slowClient();
    for (const text of ['a', 'b']) {
      queue.send(text);
      await tick();
    }
    while (queue.queued > 0) await takeOne();
    queue.send('c');
    await tick();
    while (queue.queued > 0) await takeOne();
    queue.send('d');
    expect(writes).toEqual(['a', 'b', 'c', 'd']);
  });

  it('writes much of a large turn before its end, and never more at once than a slow client reads', async () => {
    const { queue, writes, tick, takeOne } = slowClient();
    for (const text of ['a', 'b']) queue.send(text);
    while (queue.queued > 0) await takeOne();
    writes.length = 0;
    for (let at = 0; at < 40; at += 1) queue.send('x'.repeat(500));
    expect(writes[0]).toHaveLength(4500);
    await tick();
    for (let at = 0; at < 400; at += 1) queue.send('x'.repeat(500));
    await tick();
    expect(writes).toHaveLength(1);
    expect(queue.queued).toBe(220_000);
  });

  it('keeps the order when short texts come between pieces', async () => {
    const { queue, writes, tick, takeOne } = slowClient();
    const expected: string[] = [];
    const send = (text: string, isPieces = false) => {
      expected.push(text);
      queue.send(isPieces ? [Buffer.from(text)] : text);
    };
    send('p'.repeat(600_000), true);
    await tick();
    for (let round = 0; queue.queued > 0; round += 1) {
      const taken = takeOne();
      // in the same turn, when what was written is taken and the rest of the piece is not written yet
      if (round < 20) for (let at = 0; at < 10; at += 1) send(`${round}.${at};`.repeat(100));
      await taken;
    }
    expect(writes.join('')).toBe(expected.join(''));
  });

  it('writes everything in order, the next slice when the last was read', async () => {
    const { queue, writes, tick, takeOne } = slowClient();
    const sent = Array.from({ length: 50 }, (_, at) => `${at}-`.repeat(2000));
    for (const text of sent) {
      queue.send(text);
      await tick();
    }
    expect(writes).toHaveLength(1);
    let isEmpty = false;
    void queue.emptied().then(() => {
      isEmpty = true;
    });
    while (queue.queued > 0) {
      expect(isEmpty).toBe(false);
      await takeOne();
    }
    expect(writes.join('')).toBe(sent.join(''));
    expect(isEmpty).toBe(true);
  });

  it('drops a client with more than the soft cap unread that read nothing for 5 s (S7)', async () => {
    const { queue, clock, drops, tick } = slowClient();
    queue.send('x'.repeat(200_001));
    await tick();
    clock.advance(4999);
    expect(drops).toEqual([]);
    clock.advance(1);
    expect(drops).toHaveLength(1);
    expect(queue.queued).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it('keeps a slow client that reads something within each 5 s (S7)', async () => {
    const { queue, clock, drops, tick, takeOne } = slowClient();
    for (let round = 0; round < 20; round += 1) {
      queue.send('x'.repeat(round === 0 ? 400_000 : 65_536));
      await tick();
      clock.advance(4000);
      await takeOne();
    }
    expect(drops).toEqual([]);
    clock.advance(5000);
    expect(drops).toHaveLength(1);
  });

  it('keeps a client with less than the soft cap unread for ever (S7)', async () => {
    const { queue, clock, drops, tick } = slowClient();
    queue.send('x'.repeat(200_000));
    await tick();
    clock.advance(3_600_000);
    expect(drops).toEqual([]);
    expect(queue.queued).toBe(200_000);
  });

  it('keeps a client that falls below the soft cap again (S7)', async () => {
    const { queue, clock, drops, tick, takeOne } = slowClient();
    queue.send('x'.repeat(200_001));
    await tick();
    await takeOne();
    expect(queue.queued).toBeGreaterThan(0);
    clock.advance(60_000);
    expect(drops).toEqual([]);
  });

  it('drops a client at the hard cap at once (S7)', () => {
    const { queue, drops, clock } = slowClient();
    for (let at = 0; at < 10; at += 1) queue.send('x'.repeat(100_000));
    expect(drops).toEqual([]);
    queue.send('x');
    expect(drops).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it('writes pieces unchanged, in order with texts', async () => {
    const { queue, writes, tick, takeOne } = slowClient();
    const pieces = [Buffer.from('piece 1,'), Buffer.alloc(100_000, 'p'), Buffer.from(',piece 3\n')];
    queue.send('before\n');
    queue.send(pieces);
    queue.send('behind\n');
    queue.send('last\n');
    expect(queue.queued).toBe(Buffer.concat(pieces).length + 19);
    await tick();
    while (queue.queued > 0) await takeOne();
    expect(writes.join('')).toBe(`before\n${Buffer.concat(pieces)}behind\nlast\n`);
    expect(writes.at(-1)).toBe('behind\nlast\n');
  });

  it('writes a large text in several turns to a client that reads at once', async () => {
    const writes: Buffer[] = [];
    const stream = new Writable({
      write(chunk: Buffer, _encoding, done) {
        writes.push(chunk);
        done();
      },
    });
    const queue = new WriteQueue(stream, () => undefined);
    const bytes = 3_000_000;
    queue.send([Buffer.alloc(bytes, 'x')]);
    const turns: number[] = [];
    while (queue.queued > 0) {
      const before = queue.queued;
      await new Promise(setImmediate);
      turns.push(before - queue.queued);
    }
    expect(Math.max(...turns)).toBeLessThanOrEqual(2 ** 18);
    expect(turns.filter((taken) => taken > 0)).toHaveLength(Math.ceil(bytes / 2 ** 18));
    expect(Buffer.concat(writes)).toHaveLength(bytes);
  });

  it('reports each piece once, after all of it was read, and none that was not', async () => {
    const spent: Buffer[] = [];
    const { queue, tick, takeOne } = slowClient((piece) => spent.push(piece));
    const pieces = [Buffer.alloc(100_000, 'a'), Buffer.alloc(10, 'b'), Buffer.alloc(100, 'c')];
    queue.send('before\n');
    queue.send(pieces);
    queue.send('behind\n');
    await tick();
    const told: number[] = [];
    for (let time = 0; time < 4; time += 1) {
      await takeOne();
      told.push(spent.length);
    }
    // what is before it, the two slices of the first, the second
    expect(told).toEqual([0, 0, 1, 2]);
    queue.close();
    await takeOne();
    expect(spent).toEqual(pieces.slice(0, 2));
  });

  it('passes one text that alone exceeds the hard cap to a client that reads (U3, S7)', async () => {
    const { queue, drops, tick, takeOne } = slowClient();
    queue.send([Buffer.alloc(1_500_000, 'x'), Buffer.from('\n')]);
    queue.send('x'.repeat(900_000));
    expect(drops).toEqual([]);
    await tick();
    while (queue.queued > 0) await takeOne();
    expect(drops).toEqual([]);
    for (let at = 0; at < 10; at += 1) queue.send('x'.repeat(100_000));
    expect(drops).toEqual([]);
    queue.send('x');
    expect(drops).toHaveLength(1);
  });

  it('drops a client with such a text and more than the hard cap unread behind it (S7)', () => {
    const { queue, drops } = slowClient();
    queue.send('x'.repeat(1_500_000));
    queue.send('x'.repeat(1_000_000));
    expect(drops).toEqual([]);
    queue.send('x');
    expect(drops).toHaveLength(1);
  });

  it('drops a client that reads nothing of such a text for 5 s (S7)', async () => {
    const { queue, clock, drops, tick } = slowClient();
    queue.send('x'.repeat(1_500_000));
    await tick();
    clock.advance(4999);
    expect(drops).toEqual([]);
    clock.advance(1);
    expect(drops).toHaveLength(1);
  });

  it('counts the 5 s from the first unread byte, not from the last read', async () => {
    const { queue, clock, drops, tick, takeOne } = slowClient();
    queue.send('a');
    await tick();
    await takeOne();
    clock.advance(60_000);
    queue.send('x'.repeat(200_001));
    await tick();
    clock.advance(4999);
    expect(drops).toEqual([]);
  });

  it('counts the 5 s anew after the client had read everything', async () => {
    const { queue, clock, drops, tick, takeOne } = slowClient();
    queue.send('x'.repeat(200_001));
    await tick();
    while (queue.queued > 0) await takeOne();
    // it is still being watched when the next ones come
    clock.advance(4990);
    queue.send('x'.repeat(200_001));
    await tick();
    clock.advance(4999);
    expect(drops).toEqual([]);
    clock.advance(1);
    expect(drops).toHaveLength(1);
  });
});
