import { isMap, isScalar, isSeq } from 'yaml';
import { isMap as isData } from '../parse/document.js';
import { uneditable } from './edit-error.js';
import { appendToFlow } from './flow-list.js';
import { columnOf, lineAfter } from './lines.js';
import { type ListKey, pairOf } from './locate.js';
import { isSameData, parseTokens, parseValues } from './parse.js';
import { printFlowPair } from './print.js';
import { applyEdit, insertLines, joinEdits, type TextEdit } from './text-edit.js';

/**
 * The edit that sets `enabled` of some entries of a list. An existing value is replaced, so that a comment beside it stays. A
 * new line stands below the name.
 */
export function setEnabled(
  text: string,
  key: ListKey,
  indexes: readonly number[],
  enabled: boolean,
): TextEdit {
  const items = itemsOf(text, key);
  const edits = [...new Set(indexes)].map((index) => editOf(text, items[index], enabled));
  const edit = joinEdits(text, edits);
  if (isAsWanted(text, applyEdit(text, edit), key, indexes, enabled)) return edit;
  throw byHand(text, 0, enabled);
}

function itemsOf(text: string, key: ListKey): unknown[] {
  const root = parseTokens(text).contents;
  const list = isMap(root) ? pairOf(root, key)?.value : undefined;
  return isSeq(list) ? list.items : [];
}

function editOf(text: string, entry: unknown, enabled: boolean): TextEdit {
  if (!isMap(entry)) throw byHand(text, 0, enabled);
  const [offset = 0] = entry.range ?? [];
  const given = pairOf(entry, 'enabled');
  if (given !== undefined) {
    const [start, end] = isScalar(given.value) ? (given.value.range ?? []) : [];
    if (start === undefined || end === undefined) throw byHand(text, offset, enabled);
    return { start, end, insert: String(enabled) };
  }
  const token = entry.srcToken;
  if (token?.type === 'flow-collection') {
    const [first] = entry.items;
    const json = isScalar(first?.key) && first.key.type === 'QUOTE_DOUBLE';
    return appendToFlow(text, token, printFlowPair('enabled', enabled, { json, padding: false }), 2);
  }
  const { key, value } = pairOf(entry, 'name') ?? {};
  if (!isScalar(key) || !isScalar(value)) throw byHand(text, offset, enabled);
  const column = columnOf(text, key.range?.[0] ?? 0);
  const below = lineAfter(text, value.range?.[1] ?? 0);
  return insertLines(text, below, [`${' '.repeat(column)}enabled: ${enabled}`]);
}

/** Checks the edit: only these entries change, and only their `enabled`. */
function isAsWanted(
  before: string,
  after: string,
  key: ListKey,
  indexes: readonly number[],
  enabled: boolean,
): boolean {
  const old = parseValues(before).value;
  const list = isData(old) ? old[key] : undefined;
  if (!isData(old) || !Array.isArray(list)) return false;
  const wanted = list.map((item, index) =>
    indexes.includes(index) && isData(item) ? { ...item, enabled } : item,
  );
  return isSameData({ ...old, [key]: wanted }, parseValues(after).value);
}

function byHand(text: string, offset: number, enabled: boolean) {
  const message = 'The entry is written in a form that toolherd cannot edit';
  return uneditable(text, offset, message, `write 'enabled: ${enabled}' into it by hand`);
}
