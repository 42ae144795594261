/**
 * What a ping and its answer say of streams: how many frames the sender has sent on each; null: it has no such stream. NATS
 * keeps the order, so the receiver has either as many, or NATS has lost one.
 */
export type StreamCount = readonly [id: string, sent: number | null];

/** Of one stream, with the longest id. */
export const COUNT_BYTES = 64;

export function encodeCounts(counts: readonly StreamCount[]): Uint8Array {
  return Buffer.from(counts.length === 0 ? '' : JSON.stringify(counts));
}

/** None where it is something else. */
export function readCounts(data: Uint8Array): StreamCount[] {
  if (data.length === 0) return [];
  try {
    const counts: unknown = JSON.parse(Buffer.from(data).toString());
    return Array.isArray(counts) ? counts.filter(isCount) : [];
  } catch {
    return [];
  }
}

function isCount(value: unknown): value is StreamCount {
  if (!Array.isArray(value)) return false;
  const [id, sent] = value as unknown[];
  return typeof id === 'string' && (sent === null || Number.isSafeInteger(sent));
}
