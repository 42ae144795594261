import { isMap, isScalar, isSeq, type Pair } from 'yaml';
import { isMap as isData } from '../parse/document.js';
import { appendToBlock, dashColumnOf } from './block-list.js';
import { uneditable } from './edit-error.js';
import { appendToFlow } from './flow-list.js';
import { detectIndentation } from './indentation.js';
import { columnOf, lineStart } from './lines.js';
import { pairOf } from './locate.js';
import { isSameData, parseTokens, parseValues } from './parse.js';
import { printFlow, printItem } from './print.js';
import { applyEdit, insertLines, type TextEdit } from './text-edit.js';

const PLAIN = { json: false, padding: false };

/** The text of a config.yaml with one more command in `security.allowed_commands`. */
export function allowCommand(text: string, command: string): string {
  const after = applyEdit(text, allowEdit(text, command));
  if (hasOneMoreCommand(text, after, command)) return after;
  throw uneditable(
    text,
    0,
    "'security.allowed_commands' is written in a form that toolherd cannot edit",
    byHand(command),
  );
}

function allowEdit(text: string, command: string): TextEdit {
  const root = parseTokens(text).contents;
  const atEnd = (...lines: string[]) => insertLines(text, text.length, lines);
  const printed = printFlow(command, PLAIN);
  const block = ['security:', `  allowed_commands: [${printed}]`];
  if (!isMap(root)) return atEnd('version: "1.0"', ...block);
  const security = pairOf(root, 'security');
  if (security === undefined && root.srcToken?.type === 'block-map') return atEnd(...block);
  const section = security?.value;
  const location = isMap(section) ? pairOf(section, 'allowed_commands') : undefined;
  const list = location?.value;
  if (isSeq(list) && list.srcToken?.type === 'flow-collection')
    return appendToFlow(text, list.srcToken, printed, 2);
  if (isSeq(list) && list.srcToken?.type === 'block-seq' && location !== undefined) {
    const [start = 0, end = 0] = startOf(location);
    const head = { start, end: end + 1, column: columnOf(text, start) };
    const column = dashColumnOf(text, list.srcToken);
    const lines = printItem(command, column, detectIndentation(text, [list.srcToken]));
    return appendToBlock(text, { head, list: list.srcToken }, lines);
  }
  if (location === undefined && isMap(section)) {
    const first = section.items[0];
    const [offset = 0] = first === undefined ? [] : startOf(first);
    if (section.srcToken?.type === 'block-map') {
      const line = `${' '.repeat(columnOf(text, offset))}allowed_commands: [${printed}]`;
      return insertLines(text, lineStart(text, offset), [line]);
    }
    if (section.srcToken?.type === 'flow-collection') {
      return appendToFlow(text, section.srcToken, `allowed_commands: [${printed}]`, 2);
    }
  }
  throw uneditable(text, 0, "'security' is written in a form that toolherd cannot edit", byHand(command));
}

function startOf({ key }: Pair): readonly number[] {
  return isScalar(key) ? (key.range ?? []) : [];
}

/** Checks the edit: every other value must be unchanged. */
function hasOneMoreCommand(before: string, after: string, command: string): boolean {
  const [old, now] = [parseValues(before).value, parseValues(after).value];
  if (!isData(now)) return false;
  const { security, version, ...rest } = isData(old) ? old : {};
  const section = isData(security) ? security : {};
  const list = Array.isArray(section.allowed_commands) ? section.allowed_commands : [];
  const expected = {
    ...rest,
    version: old === null ? '1.0' : version,
    security: { ...section, allowed_commands: [...list, command] },
  };
  return isSameData(expected, now);
}

function byHand(command: string): string {
  return `add ${JSON.stringify(command)} to it by hand`;
}
