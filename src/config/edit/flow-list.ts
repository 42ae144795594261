import type { CST } from 'yaml';
import { contentSpan, flatTokens, flatTokensOfItem, type Span } from './flat-tokens.js';
import {
  isBlank,
  isFirstOnLine,
  lineBreakOf,
  lineEnd,
  lineStart,
  nextLine,
  skipSpaces,
  skipSpacesBack,
} from './lines.js';
import { joinEdits, type TextEdit } from './text-edit.js';

/** One item of `[…]` or `{…}`, and the comma after it, which may be some lines below. */
interface FlowItem extends Span {
  comma: Span | undefined;
}

function itemsOf(collection: CST.FlowCollection): FlowItem[] {
  const items: FlowItem[] = [];
  for (const item of collection.items) {
    const tokens = flatTokensOfItem(item);
    const comma = item.start.find((part) => part.type === 'comma');
    const previous = items.at(-1);
    if (comma !== undefined && previous !== undefined) {
      previous.comma = { start: comma.offset, end: comma.offset + 1 };
    }
    const span = contentSpan(tokens);
    if (span !== undefined) items.push({ ...span, comma: undefined });
  }
  return items;
}

export function isEmptyFlow(collection: CST.FlowCollection): boolean {
  return itemsOf(collection).length === 0;
}

export function closingBracket(collection: CST.FlowCollection): number {
  const end = collection.end.find((part) => part.type === 'flow-seq-end' || part.type === 'flow-map-end');
  return end?.offset ?? collection.offset + 1;
}

/** Appends the printed item after the last one: on a new line if the last item begins a line. */
export function appendToFlow(
  text: string,
  collection: CST.FlowCollection,
  printed: string,
  step: number,
): TextEdit {
  const last = itemsOf(collection).at(-1);
  if (last === undefined) return fillFlow(text, collection, printed, step);
  if (!isFirstOnLine(text, last.start)) {
    return { start: last.end, end: last.end, insert: `, ${printed}` };
  }
  const line = text.slice(lineStart(text, last.start), last.start) + printed;
  const lineBreak = lineBreakOf(text);
  const end = endOfComment(text, collection, (last.comma ?? last).end);
  const below = nextLine(text, end);
  const insert = last.comma === undefined ? line : `${line},`;
  const added = isBlank(text.slice(end, below))
    ? { start: below, end: below, insert: insert + lineBreak }
    : { start: end, end, insert: lineBreak + insert };
  if (last.comma !== undefined) return added;
  return joinEdits(text, [{ start: last.end, end: last.end, insert: ',' }, added]);
}

function fillFlow(text: string, collection: CST.FlowCollection, printed: string, step: number): TextEdit {
  const open = collection.offset + 1;
  const close = closingBracket(collection);
  if (!isFirstOnLine(text, close)) return { start: open, end: close, insert: printed };
  const start = lineStart(text, close);
  const indent = text.slice(start, close) + ' '.repeat(step);
  return { start, end: start, insert: indent + printed + lineBreakOf(text) };
}

/** The end of the comment that follows `offset` on its line; `offset` when there is none. */
function endOfComment(text: string, collection: CST.FlowCollection, offset: number): number {
  const comment = flatTokens(collection).find((token) => token.type === 'comment' && token.start >= offset);
  const next = comment !== undefined && isBlankWithin(text, offset, comment.start);
  return next ? comment.end : offset;
}

function isBlankWithin(text: string, start: number, end: number): boolean {
  return end <= lineEnd(text, start) && isBlank(text.slice(start, end));
}

/** Undefined when there is no such item. */
export function removeFromFlow(
  text: string,
  collection: CST.FlowCollection,
  index: number,
): TextEdit | undefined {
  const items = itemsOf(collection);
  const item = items[index];
  if (item === undefined) return undefined;
  const previous = items[index - 1];
  const cuts: Span[] = [];
  if (item.comma === undefined && previous?.comma !== undefined) cuts.push(previous.comma);
  // A comma on a later line is cut alone: nothing after it belongs to this item.
  const comma = item.comma && isBlankWithin(text, item.end, item.comma.start) ? item.comma : undefined;
  if (item.comma !== undefined && comma === undefined) cuts.push(item.comma);
  const whole = { start: item.start, end: (comma ?? item).end };
  const side = index === items.length - 1 ? 'last' : index === 0 ? 'first' : 'middle';
  cuts.push(withSurroundings(text, collection, whole, side));
  return joinEdits(
    text,
    cuts.map((cut) => ({ ...cut, insert: '' })),
  );
}

/**
 * Extends the cut so that it leaves no gap: whole lines with their trailing comment if the item fills them, else the
 * spaces on one side.
 */
function withSurroundings(
  text: string,
  collection: CST.FlowCollection,
  item: Span,
  side: 'first' | 'middle' | 'last',
): Span {
  const { start, end } = item;
  const commentEnd = endOfComment(text, collection, end);
  const ownLine = isFirstOnLine(text, start);
  if (ownLine && isBlank(text.slice(commentEnd, lineEnd(text, commentEnd)))) {
    return { start: lineStart(text, start), end: nextLine(text, commentEnd) };
  }
  if (ownLine && side === 'last') return { start: endOfLineAbove(text, collection, start), end };
  const after = skipSpaces(text, end);
  // A comment needs a space before it.
  if ((ownLine || side === 'first') && text[after] !== '#') return { start, end: after };
  return { start: skipSpacesBack(text, start), end };
}

/** The end of the line above; `start` if that line ends in a comment, which would swallow what follows. */
function endOfLineAbove(text: string, collection: CST.FlowCollection, start: number): number {
  const above = lineEnd(text, lineStart(text, lineStart(text, start) - 1));
  const isComment = flatTokens(collection).some((token) => token.type === 'comment' && token.end === above);
  return isComment ? start : above;
}
