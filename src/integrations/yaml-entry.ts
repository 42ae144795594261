import { detectIndentation } from '../config/edit/indentation.js';
import { addEntry, applyEdit, findEntries, type ListKey, removeEntry } from '../config/edit/index.js';
import { printPair } from '../config/edit/print.js';
import { ConfigError } from '../config/parse/problem.js';

/**
 * Edits a list of entries with a `name`, below one key of the top level. A text that cannot be edited is returned
 * unchanged; attach.ts checks every result and reports it.
 */
export function setInYamlList(text: string, key: ListKey, name: string, entry: unknown): string {
  return edited(text, () => {
    const rest = removeFromYamlList(text, key, name);
    return applyEdit(rest, addEntry(rest, key, { ...(entry as object) }));
  });
}

export function removeFromYamlList(text: string, key: ListKey, name: string): string {
  return edited(text, () => {
    const found = findEntries(text, key).find((entry) => entry.name === name);
    return found === undefined ? text : applyEdit(text, removeEntry(text, key, found.index));
  });
}

function edited(text: string, edit: () => string): string {
  try {
    return edit();
  } catch (error) {
    if (error instanceof ConfigError) return text;
    throw error;
  }
}

/** Edits, by lines, a map that is written as a block below one key of the top level. */
export function setInYamlMap(text: string, key: string, name: string, entry: unknown): string {
  const lines = linesOf(removeFromYamlMap(text, key, name));
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n';
  const indentation = detectIndentation(text, []);
  const print = (column: number) =>
    printPair(name, entry, column, indentation).map((line) => line + lineBreak);
  const block = blockOf(lines, key);
  if (block === undefined)
    return [...endedBy(lineBreak, lines), key, ':', lineBreak, ...print(indentation.step)].join('');
  const { head, end, column = indentation.step } = block;
  const before = endedBy(lineBreak, lines.slice(0, end));
  // `key: {}` becomes `key:`; a comment behind it stays.
  before[head] = (before[head] ?? '').replace(/^([^\s:]+:)[ \t]*(\{[ \t]*\}|null|~)/, '$1');
  return [...before, ...print(column), ...lines.slice(end)].join('');
}

/** A map without entries stays, as `{}`. */
export function removeFromYamlMap(text: string, key: string, name: string): string {
  const lines = linesOf(text);
  const block = blockOf(lines, key);
  if (block?.column === undefined) return text;
  const { head, end, column } = block;
  const isOurs = (line: string) => indentOf(line) === column && keyOf(line) === name;
  const start = lines.findIndex((line, index) => index > head && index < end && isOurs(line));
  if (start === -1) return text;
  let after = start + 1;
  for (let index = after; index < end && indentOf(lines[index] ?? '') > column; index += 1) {
    if (!isBlank(lines[index] ?? '')) after = index + 1;
  }
  const rest = [...lines.slice(0, start), ...lines.slice(after)];
  const isEmptied = blockOf(rest, key)?.column === undefined;
  if (isEmptied) rest[head] = (rest[head] ?? '').replace(/^([^\s:]+:)/, '$1 {}');
  return rest.join('');
}

/** The lines of a block: from the line of its key to the last line with content. `column`: where its keys begin. */
function blockOf(
  lines: readonly string[],
  key: string,
): { head: number; end: number; column: number | undefined } | undefined {
  const head = lines.findIndex((line) => indentOf(line) === 0 && keyOf(line) === key);
  if (head === -1) return undefined;
  let end = head + 1;
  let column: number | undefined;
  for (let index = end; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const isComment = line.trimStart().startsWith('#');
    if (isBlank(line) || (isComment && indentOf(line) === 0)) continue;
    if (indentOf(line) === 0) break;
    if (!isComment) column ??= indentOf(line);
    end = index + 1;
  }
  return { head, end, column };
}

function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/).filter((line) => line !== '');
}

/** The same lines; the last one ends in a line break. */
function endedBy(lineBreak: string, lines: readonly string[]): string[] {
  return lines.map((line) => (line.endsWith('\n') ? line : line + lineBreak));
}

/** A blank line counts as indented by all it has, so that it never ends an entry. */
function indentOf(line: string): number {
  return isBlank(line) ? Number.POSITIVE_INFINITY : line.length - line.trimStart().length;
}

function keyOf(line: string): string | undefined {
  return /^\s*(["']?)([^\s"':#]+)\1:(?=\s|$)/.exec(line)?.[2];
}

function isBlank(line: string): boolean {
  return line.trim() === '';
}
