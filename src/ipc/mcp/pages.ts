import { wrong } from '../jsonrpc/params.js';

export const PAGE_SIZE = 500;

interface Cursor {
  /** The key of the last entry that the client has. */
  after: string;
  /** The index after it, when the page was made. */
  at: number;
}

export interface Page<T> {
  items: T[];
  nextCursor?: string;
}

/**
 * One page of a list. The cursor names the last entry of the page before. So, when the list changes between two pages, no
 * entry comes twice, and none that stays is left out. Where that entry is gone, its old index counts.
 */
export function pageOf<T>(list: readonly T[], keyOf: (item: T) => string, cursor: unknown): Page<T> {
  const from = cursor === undefined || cursor === null ? 0 : indexAfter(list, keyOf, readCursor(cursor));
  const items = list.slice(from, from + PAGE_SIZE);
  const at = from + items.length;
  const last = items.at(-1);
  return last !== undefined && at < list.length
    ? { items, nextCursor: writeCursor({ after: keyOf(last), at }) }
    : { items };
}

function indexAfter<T>(list: readonly T[], keyOf: (item: T) => string, { after, at }: Cursor): number {
  const found = list.findIndex((item) => keyOf(item) === after);
  // the entries after the one that is gone have moved up by one
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
    // the error is below
  }
  throw wrong("'cursor' is not one of this list; ask without one for the first page");
}
