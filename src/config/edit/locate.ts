import { type CST, type Document, isMap, isScalar, type Pair, type YAMLMap } from 'yaml';
import { uneditable } from './edit-error.js';
import { contentSpan, flatTokens, flatTokensOfItem, type Span } from './flat-tokens.js';
import { columnOf, lineStart } from './lines.js';

/** The key of the list: `tools` in an agent.yaml, `mcp_servers` in a config.yaml, `mcpServers` in a file of Continue. */
export type ListKey = 'tools' | 'mcp_servers' | 'mcpServers';

const BY_HAND = 'change the file by hand, or write the list in the usual form';

/** How the text writes the list. It includes the parser's tokens, since only they have commas, dashes and comments. */
export type ListLocation =
  | { kind: 'empty-document'; offset: number }
  | { kind: 'missing-key'; root: CST.BlockMap | CST.FlowCollection }
  | { kind: 'no-value'; head: Head; value: Span | undefined; inFlow: boolean }
  | { kind: 'block'; head: Head; list: CST.BlockSequence }
  | { kind: 'flow'; head: Head; list: CST.FlowCollection; inFlow: boolean };

/** The key with its colon, anchor and tag. */
export interface Head extends Span {
  column: number;
}

export function locateList(text: string, document: Document.Parsed, key: ListKey): ListLocation {
  const root = document.contents;
  if (root === null || isNothing(root)) {
    return { kind: 'empty-document', offset: Math.max(document.range[1], lineStart(text, 0)) };
  }
  if (!isMap(root))
    throw uneditable(text, root.range[0], 'The top level of the file is not a mapping', 'make it one');
  const token = root.srcToken;
  if (token?.type !== 'block-map' && token?.type !== 'flow-collection') {
    throw uneditable(text, root.range[0], 'The top level of the file is not written as a mapping', BY_HAND);
  }
  const pairs = root.items.filter((pair) => isScalar(pair.key) && pair.key.value === key);
  const pair = pairs[0];
  if (pair === undefined) return { kind: 'missing-key', root: token };
  if (pairs[1] !== undefined) {
    throw uneditable(text, startOf(pairs[1]), `Duplicate key '${key}'`, 'remove one');
  }
  return locationOf(text, key, pair, token.type === 'flow-collection');
}

function locationOf(text: string, key: ListKey, pair: Pair, inFlow: boolean): ListLocation {
  const item = pair.srcToken;
  const span = item === undefined ? undefined : contentSpan(flatTokensOfItem(withoutValue(item)));
  if (item?.sep === undefined || span === undefined || 'explicitKey' in item) {
    throw uneditable(text, startOf(pair), `'${key}' is not written as '${key}:'`, BY_HAND);
  }
  const head = { ...span, column: columnOf(text, span.start) };
  const value = item.value;
  if (value === undefined) return { kind: 'no-value', head, value: undefined, inFlow };
  if (value.type === 'block-seq') return { kind: 'block', head, list: value };
  if (value.type === 'flow-collection' && value.start.type === 'flow-seq-start') {
    return { kind: 'flow', head, list: value, inFlow };
  }
  if (isScalar(pair.value) && pair.value.value === null) {
    return { kind: 'no-value', head, value: contentSpan(flatTokens(value)), inFlow };
  }
  throw uneditable(text, value.offset, `'${key}' is not written as a list`, BY_HAND);
}

function withoutValue({ start, key = null, sep = [] }: CST.CollectionItem): CST.CollectionItem {
  return { start, key, sep };
}

/**
 * A document of only `---` is a null without text. A null that is written, tagged or anchored is a value of the user.
 */
function isNothing(node: object): boolean {
  const written = 'srcToken' in node && node.srcToken !== undefined;
  return isScalar(node) && node.value === null && !written && !node.tag && !node.anchor;
}

/** The first pair with this key. */
export function pairOf(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find((pair) => isScalar(pair.key) && pair.key.value === key);
}

function startOf(pair: Pair): number {
  return isScalar(pair.key) ? (pair.key.range?.[0] ?? 0) : 0;
}
