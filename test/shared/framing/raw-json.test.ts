import { describe, expect, it } from 'vitest';
import { BufferPool } from '../../../src/shared/framing/buffer-pool.js';
import { RawJson } from '../../../src/shared/framing/raw-json.js';

/** A value in two blocks of a pool. */
function lent(pool: BufferPool) {
  const pieces = ['{"a":', '[1,2]}'].map((text) => {
    const block = pool.lend();
    return block.subarray(0, block.write(text));
  });
  return { pieces, value: new RawJson(pieces) };
}

describe('RawJson', () => {
  it('is its pieces, and parses them', () => {
    const { pieces, value } = lent(new BufferPool());
    expect([value.pieces, value.bytes, value.parse(), JSON.stringify(value)]).toEqual([
      pieces,
      11,
      { a: [1, 2] },
      '{"a":[1,2]}',
    ]);
  });

  it.each([0, 1])(
    'throws when it is read after block %i was released, and still knows its size',
    (released) => {
      const pool = new BufferPool();
      const { pieces, value } = lent(pool);
      pool.release(pieces[released]!);
      for (const read of [() => value.pieces, () => value.parse(), () => JSON.stringify(value)]) {
        expect(read).toThrow('released');
      }
      expect(value.bytes).toBe(11);
    },
  );

  it('throws also when the block is lent again: the new line is another value', () => {
    const pool = new BufferPool();
    const first = lent(pool);
    for (const piece of first.pieces) pool.release(piece);
    const second = lent(pool);
    expect(() => first.value.parse()).toThrow('released');
    expect(second.value.parse()).toEqual({ a: [1, 2] });
  });

  it('memory that no pool has lent can be read at any time', () => {
    const pool = new BufferPool();
    const piece = Buffer.from('{}');
    const value = new RawJson([piece]);
    pool.release(piece);
    expect(value.parse()).toEqual({});
  });
});
