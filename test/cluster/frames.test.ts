import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ahead, decodeFrame, encodeFrame, type FrameKind, HEAD_BYTES } from '../../src/cluster/frames.js';

const KINDS: readonly FrameKind[] = ['data', 'credit', 'end', 'reset', 'accepted', 'refused'];

describe('a frame', () => {
  it('a frame is read as it was written, with the counts modulo 2^32', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...KINDS),
        fc.maxSafeNat(),
        fc.maxSafeNat(),
        fc.array(fc.uint8Array({ maxLength: 50 })),
        (kind, number, taken, pieces) => {
          const data = Buffer.concat(pieces);
          const frame = encodeFrame({ kind, number, taken }, pieces, data.length);
          expect(frame).toHaveLength(HEAD_BYTES + data.length);
          expect(decodeFrame(frame)).toEqual({
            kind,
            number: number % 2 ** 32,
            taken: taken % 2 ** 32,
            data,
          });
        },
      ),
    );
  });

  it('a message of another kind is no frame', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), (message) => {
        const frame = decodeFrame(message);
        expect(
          frame === undefined || (message.length >= HEAD_BYTES && message[0]! >= 1 && message[0]! <= 6),
        ).toBe(true);
      }),
    );
  });

  it('a count that has passed 2^32 is still ahead of the one before', () => {
    expect(ahead(5, 2 ** 32 - 10)).toBe(15);
    expect(ahead(5, 2 ** 33 - 10)).toBe(15);
    expect(ahead(7, 7 + 2 ** 32)).toBe(0);
  });
});
