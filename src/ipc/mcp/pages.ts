import { wrong } from '../jsonrpc/params.js';

export const PAGE_SIZE = 500;

interface Cursor {
  /** The key of the last entry that the client has. */
  after: string;
  /** Where the next page began when this was said. */
  at: number;
}

export interface Page<T> {
  items: T[];
  nextCursor?: string;
}

/**
 * One page of a list. The cursor names the last entry that was given: when the list changes between two pages nothing
 * comes twice and nothing is left out that was there all the time. Is that entry gone, its old place counts.
 */
export function pageOf<T>(list: readonly T[], keyOf: (item: T) => string, cursor: unknown): Page<T> {
  const from = cursor === undefined || cursor === null ? 0 : placeAfter(list, keyOf, readCursor(cursor));
  const items = list.slice(from, from + PAGE_SIZE);
  const at = from + items.length;
  const last = items.at(-1);
  return last !== undefined && at < list.length
    ? { items, nextCursor: writeCursor({ after: keyOf(last), at }) }
    : { items };
}

function placeAfter<T>(list: readonly T[], keyOf: (item: T) => string, { after, at }: Cursor): number {
  const found = list.findIndex((item) => keyOf(item) === after);
  // without the entry that is gone, all that followed it have moved up by one
  return found === -1 ? Math.max(0, at - 1) : found + 1;
}

function writeCursor(cursor: Cursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

function readCursor(text: unknown): Cursor {
  try {
    const { after, at } = JSON.parse(Buffer.from(String(text), 'base64url').toString()) as Partial<Cursor>;
    if (typeof after === 'string' && Number.isSafeInteger(at)) return { after, at: at as number };
  } catch {
    // said below
  }
  throw wrong("'cursor' is none that was given out here; ask without one for the first page");
}
