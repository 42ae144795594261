import type { CST } from 'yaml';
import { appendToBlock, dashColumnOf } from './block-list.js';
import { uneditable } from './edit-error.js';
import { contentSpan, flatTokens, type Span } from './flat-tokens.js';
import { appendToFlow, closingBracket, isEmptyFlow } from './flow-list.js';
import { detectIndentation } from './indentation.js';
import {
  endOfComments,
  isBlank,
  isFirstOnLine,
  lineAfter,
  lineEnd,
  lineStart,
  nextLine,
  skipSpaces,
  skipSpacesBack,
} from './lines.js';
import { type Head, type ListKey, locateList } from './locate.js';
import { parseTokens } from './parse.js';
import { type FlowStyle, printFlow, printFlowPair, printItem, printPair } from './print.js';
import { cutLines, insertLines, joinEdits, type TextEdit } from './text-edit.js';

/** Written into a new config.yaml as its format version. */
const CONFIG_VERSION = '1.0';

/** The edit that appends `entry` to the list, and creates the list if there is none. */
export function addEntry(text: string, key: ListKey, entry: Record<string, unknown>): TextEdit {
  const document = parseTokens(text);
  const root = document.contents?.srcToken;
  const rootFlow = root?.type === 'flow-collection' ? [root] : [];
  const location = locateList(text, document, key);
  switch (location.kind) {
    case 'empty-document':
      return addFirstKey(text, location.offset, key, entry);
    case 'missing-key':
      return addKey(text, location.root, key, entry);
    case 'block': {
      const indentation = detectIndentation(text, [location.list, root]);
      return appendToBlock(text, location, printItem(entry, dashColumnOf(text, location.list), indentation));
    }
    case 'flow': {
      const span = { start: location.list.offset, end: closingBracket(location.list) + 1 };
      const oneLine = !text.slice(span.start, span.end).includes('\n');
      if (isEmptyFlow(location.list) && oneLine && !location.inFlow) {
        return startBlock(text, location.head, span, entry, root);
      }
      const style = flowStyleOf(text, [location.list, ...rootFlow]);
      return appendToFlow(text, location.list, printFlow(entry, style), detectIndentation(text, [root]).step);
    }
    case 'no-value':
      if (!location.inFlow) return startBlock(text, location.head, location.value, entry, root);
      if (location.value === undefined) {
        throw uneditable(text, location.head.start, `'${key}' has no value`, `write '${key}: []'`);
      }
      return { ...location.value, insert: printFlow([entry], flowStyleOf(text, rootFlow)) };
  }
}

/** The keys of a file that was empty. */
function keysFor(key: ListKey, entry: Record<string, unknown>, isNew: boolean): [string, unknown][] {
  const list: [string, unknown] = [key, [entry]];
  return isNew && key === 'mcp_servers' ? [['version', CONFIG_VERSION], list] : [list];
}

function addFirstKey(
  text: string,
  contentEnd: number,
  key: ListKey,
  entry: Record<string, unknown>,
): TextEdit {
  const begin = endOfComments(text, lineAfter(text, contentEnd), 0);
  const lines = keysFor(key, entry, true).flatMap(([name, value]) =>
    printPair(name, value, 0, detectIndentation(text, [])),
  );
  // The file may end in a line of spaces: insert before it.
  const offset = isBlank(text.slice(lineStart(text, begin), begin)) ? lineStart(text, begin) : begin;
  return insertLines(text, offset, isBelowComment(text, offset) ? ['', ...lines] : lines);
}

/** A new key directly below a comment would seem to be its subject, so a blank line is put between. */
function isBelowComment(text: string, offset: number): boolean {
  const end = text[offset - 1] === '\n' ? offset - 1 : offset;
  return text[skipSpaces(text, lineStart(text, end))] === '#';
}

function addKey(
  text: string,
  root: CST.BlockMap | CST.FlowCollection,
  key: ListKey,
  entry: Record<string, unknown>,
): TextEdit {
  const indentation = detectIndentation(text, [root]);
  if (root.type === 'flow-collection') {
    const style = flowStyleOf(text, [root]);
    const pairs = keysFor(key, entry, isEmptyFlow(root));
    const printed = pairs.map(([name, value]) => printFlowPair(name, value, style)).join(', ');
    return appendToFlow(text, root, printed, indentation.step);
  }
  const { start, end } = contentSpan(flatTokens(root)) ?? { start: root.offset, end: root.offset };
  const column = start - lineStart(text, start);
  const lines = printPair(key, [entry], column, indentation);
  const below = lineAfter(text, end);
  const offset = endOfComments(text, below, 0);
  return insertLines(text, offset, offset > below ? ['', ...lines] : lines);
}

/** Replaces a null or `[]` by a block list below its key, and below comments that are indented deeper than the key. */
function startBlock(
  text: string,
  head: Head,
  value: Span | undefined,
  entry: Record<string, unknown>,
  root: CST.Token | undefined,
): TextEdit {
  const indentation = detectIndentation(text, [root]);
  const lines = printItem(entry, head.column + indentation.listOffset, indentation);
  const offset = endOfComments(text, lineAfter(text, (value ?? head).end), head.column + 1);
  const edits = [insertLines(text, offset, lines)];
  if (value !== undefined) edits.push(cutValue(text, value, offset));
  return joinEdits(text, edits);
}

/** Cuts the value without leaving an empty line or a trailing space. A comment beside it stays. */
function cutValue(text: string, value: Span, limit: number): TextEdit {
  const { start, end } = value;
  if (!isFirstOnLine(text, start)) return { start: skipSpacesBack(text, start), end, insert: '' };
  const alone = isBlank(text.slice(end, lineEnd(text, end)));
  if (alone) return cutLines(text, lineStart(text, start), Math.min(nextLine(text, end), limit));
  return { start, end: skipSpaces(text, end), insert: '' };
}

/** The style of the first `{…}` that has a key. An empty `{}` may be a JSON file, so it counts as JSON. */
function flowStyleOf(text: string, collections: readonly CST.FlowCollection[]): FlowStyle {
  const tokens = collections.flatMap((collection) => flatTokens(collection));
  const open = tokens.findIndex((token) => token.type === 'flow-map-start');
  const brace = tokens[open];
  if (brace === undefined) return { json: false, padding: false };
  const first = tokens.slice(open + 1).find((token) => !['space', 'newline', 'comment'].includes(token.type));
  const json = first?.type === 'double-quoted-scalar' || first?.type === 'flow-map-end';
  return { json, padding: text[brace.end] === ' ' };
}
