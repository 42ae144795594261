/**
 * One message of NATS is one frame of a stream: kind, number, bytes taken, and data. Numbers count up from 0 in each
 * direction, so that a frame that NATS has lost is noticed: NATS keeps the order, and promises no delivery.
 */
export type FrameKind = keyof typeof KINDS;

export interface Frame {
  kind: FrameKind;
  number: number;
  /** How many bytes of the other side were taken in all, modulo 2^32: the other side may send `WINDOW_BYTES` beyond them. */
  taken: number;
  data: Buffer;
}

const KINDS = {
  /** Bytes of the stream. */
  data: 1,
  /** Bytes were taken. */
  credit: 2,
  /** The sender writes no more. */
  end: 3,
  /** The stream is over; the data say why. The only kind that may come out of its turn. */
  reset: 4,
  /** Answers to the request that opens a stream. */
  accepted: 5,
  refused: 6,
} as const;

const NAMES = new Map<number, FrameKind>(
  Object.entries(KINDS).map(([name, code]) => [code, name as FrameKind]),
);

/** Bytes of a frame beside its data. */
export const HEAD_BYTES = 9;
const MODULUS = 2 ** 32;

/** `data`: the pieces, which are copied. `bytes`: of all of them. */
export function encodeFrame(
  { kind, number, taken }: Omit<Frame, 'data'>,
  data: readonly Uint8Array[],
  bytes: number,
): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + bytes);
  frame[0] = KINDS[kind];
  frame.writeUInt32BE(number % MODULUS, 1);
  frame.writeUInt32BE(taken % MODULUS, 5);
  let at = HEAD_BYTES;
  for (const piece of data) {
    frame.set(piece, at);
    at += piece.length;
  }
  return frame;
}

/** The data are those of the message, and not copied. Undefined: it is no frame. */
export function decodeFrame(message: Uint8Array): Frame | undefined {
  if (message.length < HEAD_BYTES) return undefined;
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.length);
  const kind = NAMES.get(bytes[0] ?? 0);
  if (kind === undefined) return undefined;
  return {
    kind,
    number: bytes.readUInt32BE(1),
    taken: bytes.readUInt32BE(5),
    data: bytes.subarray(HEAD_BYTES),
  };
}

/** How far one count is ahead of another, both modulo 2^32. */
export function ahead(count: number, of: number): number {
  return (((count - of) % MODULUS) + MODULUS) % MODULUS;
}
