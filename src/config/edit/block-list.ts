import type { CST } from 'yaml';
import { contentSpan, type FlatToken, flatTokensOfItem, type Span } from './flat-tokens.js';
import {
  endOfBlankLines,
  endOfComments,
  hasBlankLine,
  isBlank,
  lineAfter,
  lineStart,
  startOfBlankLines,
} from './lines.js';
import type { Head } from './locate.js';
import { cutLines, insertLines, joinEdits, type TextEdit } from './text-edit.js';

/**
 * A list of `- …` lines. An item owns the lines from its dash through the comments indented deeper than the dash. A
 * comment at the column of the dash belongs to the list and stays when an item is removed.
 */
export interface BlockList {
  head: Head;
  list: CST.BlockSequence;
}

interface BlockItem extends Span {
  dashColumn: number;
  /** It ends in a block scalar that keeps its final line breaks: a blank line below would become part of it. */
  keepsBlankLines: boolean;
}

function itemsOf(text: string, list: CST.BlockSequence): BlockItem[] {
  return list.items.flatMap((item) => {
    const tokens = flatTokensOfItem(item);
    const span = contentSpan(tokens);
    if (span === undefined) return [];
    const start = lineStart(text, span.start);
    const dashColumn = span.start - start;
    const below = lineAfter(text, span.end);
    const end = endOfComments(text, below, dashColumn + 1);
    return [{ start, end, dashColumn, keepsBlankLines: end === below && endsInKeptScalar(text, tokens) }];
  });
}

function endsInKeptScalar(text: string, tokens: readonly FlatToken[]): boolean {
  const index = tokens.findLastIndex((token) => token.type === 'block-scalar-header');
  const header = tokens[index];
  if (header === undefined || !text.slice(header.start, header.end).includes('+')) return false;
  return contentSpan(tokens.slice(index + 1).filter((token) => token.type !== 'block-scalar')) === undefined;
}

export function dashColumnOf(text: string, list: CST.BlockSequence): number {
  return itemsOf(text, list).at(-1)?.dashColumn ?? 0;
}

/** Appends below the last item and below the comments of the list, which are indented deeper than its key. */
export function appendToBlock(text: string, { head, list }: BlockList, lines: readonly string[]): TextEdit {
  const items = itemsOf(text, list);
  const last = items.at(-1);
  const beforeLast = items.at(-2);
  const end = last?.end ?? lineAfter(text, head.end);
  const offset = endOfComments(text, end, head.column + 1);
  const spaced = last && beforeLast && hasBlankLine(text.slice(beforeLast.end, last.start));
  const swallowed = last?.keepsBlankLines && offset === end;
  return insertLines(text, offset, spaced && !swallowed ? ['', ...lines] : lines);
}

/** Undefined when there is no such item. */
export function removeFromBlock(
  text: string,
  { head, list }: BlockList,
  index: number,
): TextEdit | undefined {
  const items = itemsOf(text, list);
  const item = items[index];
  if (item === undefined) return undefined;
  if (items.length === 1) {
    const empty = { start: head.end, end: head.end, insert: ' []' };
    return joinEdits(text, [empty, cutLines(text, item.start, item.end)]);
  }
  const { start, end } = withBlankLines(text, lineAfter(text, head.end), items, index);
  const previous = items[index - 1];
  const swallows = previous?.keepsBlankLines && previous.end === start;
  return cutLines(text, start, swallows ? endOfBlankLines(text, end) : end);
}

/**
 * The blank lines around an item are removed with it, so that adding and then removing changes nothing. Blank lines
 * between a comment and the next item stay: without them the comment would seem to describe that item.
 */
function withBlankLines(text: string, listStart: number, items: readonly BlockItem[], index: number): Span {
  const item = items[index] as BlockItem;
  const previous = items[index - 1];
  const next = items[index + 1];
  const { start, end } = item;
  if (previous !== undefined) {
    const lonely = next === undefined || isBlank(text.slice(previous.end, start));
    return { start: lonely ? startOfBlankLines(text, start, previous.end) : start, end };
  }
  if (next === undefined || !isBlank(text.slice(listStart, start) + text.slice(end, next.start))) {
    return { start, end };
  }
  return { start, end: next.start };
}
