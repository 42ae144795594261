// isolated: counts what the whole process calls on Buffer
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { BLOCK_BYTES, BufferPool } from '../../../src/shared/framing/buffer-pool.js';
import { detachBuffer } from '../../../src/shared/framing/detach-buffer.js';
import { Framer } from '../../../src/shared/framing/framer.js';
import { until } from '../../support/until.js';

describe('the blocks of long lines', () => {
  it('are lent again after their release, by the whole block or a part of it', () => {
    const blocks = new BufferPool();
    const [one, other] = [blocks.lend(), blocks.lend()];
    expect(one.buffer).not.toBe(other.buffer);
    blocks.release(one.subarray(40, 100));
    expect(blocks.idle).toBe(1);
    const again = blocks.lend();
    expect([again.buffer === one.buffer, again.length]).toEqual([true, BLOCK_BYTES]);
  });

  it('are accepted once, and no other buffer is', () => {
    const blocks = new BufferPool();
    const block = blocks.lend();
    for (let time = 0; time < 2; time += 1) blocks.release(block);
    blocks.release(Buffer.alloc(BLOCK_BYTES));
    blocks.release(new BufferPool().lend());
    expect(blocks.idle).toBe(1);
  });

  it('are freed when they stay idle', async () => {
    const blocks = new BufferPool(20);
    const block = blocks.lend();
    blocks.release(block);
    await until(() => blocks.idle === 0);
    expect(block.length).toBe(0);
    expect(blocks.lend()).toHaveLength(BLOCK_BYTES);
  });

  it('are enough for any number of messages, one after the other', () => {
    const blocks = new BufferPool();
    const made = vi.spyOn(Buffer, 'allocUnsafeSlow');
    onTestFinished(() => made.mockRestore());
    const framer = new Framer(
      2 ** 30,
      {
        line: () => undefined,
        long: () => ({
          push: () => undefined,
          end: (pieces) => {
            for (const piece of pieces) blocks.release(piece);
          },
        }),
      },
      blocks,
    );
    const [chunk, newline] = [Buffer.alloc(65_536, 'x'), Buffer.from('\n')];
    const counts = [1, 2, 3].map(() => {
      made.mockClear();
      for (let at = 0; at < 64; at += 1) framer.push(chunk);
      framer.push(newline);
      return made.mock.calls.length;
    });
    // the chunk in which it became long is kept as it is
    expect(counts).toEqual([63, 0, 0]);
    expect(blocks.idle).toBe(63);
  });
});

describe('detachBuffer', () => {
  it('frees the memory of a buffer at once', () => {
    const buffer = Buffer.allocUnsafeSlow(65_536);
    detachBuffer(buffer);
    expect([buffer.length, buffer.buffer.byteLength]).toEqual([0, 0]);
  });

  it('has no effect the second time, in every Node, nor on an empty buffer', () => {
    const buffer = Buffer.allocUnsafeSlow(65_536);
    for (let time = 0; time < 2; time += 1) detachBuffer(buffer);
    for (const none of [Buffer.alloc(0), Buffer.from('')])
      for (let time = 0; time < 2; time += 1) detachBuffer(none);
    expect(buffer).toHaveLength(0);
  });

  it('leaves a buffer alone that is only a part of its memory', () => {
    const whole = Buffer.alloc(65_536, 'x');
    detachBuffer(whole.subarray(1));
    detachBuffer(whole.subarray(0, -1));
    detachBuffer(Buffer.from('one of many in the same memory'));
    expect([whole.length, whole.at(-1), Buffer.from('abc').toString()]).toEqual([65_536, 0x78, 'abc']);
  });
});
