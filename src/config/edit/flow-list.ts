import type { CST } from 'yaml';
import { contentSpan, type Leaf, leavesOf, leavesOfItem, type Span } from './leaves.js';
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
import { joinSplices, type Splice } from './splice.js';

/** One entry of `[…]` or `{…}` with the comma behind it, which may stand lines below. */
interface FlowItem extends Span {
  comma: Span | undefined;
}

function itemsOf(collection: CST.FlowCollection): FlowItem[] {
  const items: FlowItem[] = [];
  for (const item of collection.items) {
    const leaves = leavesOfItem(item);
    const comma = item.start.find((part) => part.type === 'comma');
    const previous = items.at(-1);
    if (comma !== undefined && previous !== undefined) {
      previous.comma = { start: comma.offset, end: comma.offset + 1 };
    }
    const span = contentSpan(leaves);
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

/** Appends the printed entry behind the last one: on a line of its own where the last one has its own. */
export function appendToFlow(
  text: string,
  collection: CST.FlowCollection,
  printed: string,
  step: number,
): Splice {
  const last = itemsOf(collection).at(-1);
  if (last === undefined) return fillFlow(text, collection, printed, step);
  if (!isFirstOnLine(text, last.start)) {
    return { start: last.end, end: last.end, insert: `, ${printed}` };
  }
  const ownLine = lineBreakOf(text) + text.slice(lineStart(text, last.start), last.start) + printed;
  const { comma } = last;
  const end = endOfComment(text, collection, (comma ?? last).end);
  if (comma !== undefined) return { start: end, end, insert: `${ownLine},` };
  return joinSplices(text, [
    { start: last.end, end: last.end, insert: ',' },
    { start: end, end, insert: ownLine },
  ]);
}

function fillFlow(text: string, collection: CST.FlowCollection, printed: string, step: number): Splice {
  const open = collection.offset + 1;
  const close = closingBracket(collection);
  if (!isFirstOnLine(text, close)) return { start: open, end: close, insert: printed };
  const start = lineStart(text, close);
  const indent = text.slice(start, close) + ' '.repeat(step);
  return { start, end: start, insert: indent + printed + lineBreakOf(text) };
}

/** Where the comment on the line of `offset` ends, when one comes next; else `offset`. */
function endOfComment(text: string, collection: CST.FlowCollection, offset: number): number {
  const comment = leavesOf(collection).find((leaf) => leaf.type === 'comment' && leaf.start >= offset);
  const next = comment !== undefined && isBlankWithin(text, offset, comment.start);
  return next ? comment.end : offset;
}

function isBlankWithin(text: string, start: number, end: number): boolean {
  return end <= lineEnd(text, start) && isBlank(text.slice(start, end));
}

/** Returns undefined when there is no such item. */
export function removeFromFlow(
  text: string,
  collection: CST.FlowCollection,
  index: number,
): Splice | undefined {
  const items = itemsOf(collection);
  const item = items[index];
  if (item === undefined) return undefined;
  const previous = items[index - 1];
  const cuts: Span[] = [];
  if (item.comma === undefined && previous?.comma !== undefined) cuts.push(previous.comma);
  // Behind a comma on a line below stands nothing of this item.
  const comma = item.comma && isBlankWithin(text, item.end, item.comma.start) ? item.comma : undefined;
  if (item.comma !== undefined && comma === undefined) cuts.push(item.comma);
  cuts.push(withSurroundings(text, collection, { start: item.start, end: (comma ?? item).end }, index === 0));
  return joinSplices(
    text,
    cuts.map((cut) => ({ ...cut, insert: '' })),
  );
}

/** What leaves no hole: whole lines with their closing comment where the item has them, else one side's spaces. */
function withSurroundings(text: string, collection: CST.FlowCollection, item: Span, isFirst: boolean): Span {
  const commentEnd = endOfComment(text, collection, item.end);
  const ownLine = isFirstOnLine(text, item.start);
  if (ownLine && isBlank(text.slice(commentEnd, lineEnd(text, commentEnd)))) {
    return { start: lineStart(text, item.start), end: nextLine(text, commentEnd) };
  }
  const before = skipSpacesBack(text, item.start);
  if (ownLine) return { start: breakAbove(text, collection, before), end: item.end };
  const after = skipSpaces(text, item.end);
  // A comment needs the space before it.
  const cutAfter = isFirst && text[after] !== '#';
  return cutAfter ? { start: item.start, end: after } : { start: before, end: item.end };
}

/** A comment on the line above would swallow what comes next, so its line break stays. */
function breakAbove(text: string, collection: CST.FlowCollection, start: number): number {
  const above = start - (text[start - 2] === '\r' ? 2 : 1);
  const comment = leavesOf(collection).some((leaf: Leaf) => leaf.type === 'comment' && leaf.end === above);
  return comment || above < collection.offset ? start : above;
}
