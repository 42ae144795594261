import { isDeepStrictEqual } from 'node:util';
import {
  applyEdits,
  createScanner,
  type Edit,
  findNodeAtLocation,
  getNodeValue,
  type Node,
  parseTree,
} from 'jsonc-parser';
import { TOKEN } from '../config/parse/parse-json.js';

/**
 * The text with `entry` under `keys` and `name`; every other byte stays. jsonc-parser's `modify` is not used: it
 * inserts before the comment on the last property's line, so the user's comment would move to our entry; on removal
 * it deletes the comments beside the entry; and it formats again whatever shares a line with the change.
 */
export function setJson(text: string, keys: readonly string[], name: string, entry: unknown): string {
  const root = text.trim() === '' ? undefined : parseTree(text, [], { allowTrailingComma: true });
  if (root === undefined) return `${JSON.stringify(nested([...keys, name], entry), null, 2)}\n`;
  const path = [...keys, name];
  const there = findNodeAtLocation(root, path);
  if (there !== undefined) {
    if (isDeepStrictEqual(JSON.parse(JSON.stringify(getNodeValue(there))), entry)) return text;
    const indent = indentAt(text, there.parent?.offset ?? there.offset);
    const content = isOneLine(text, there.parent?.parent ?? there)
      ? JSON.stringify(entry)
      : indented(text, entry, indent);
    return applyEdits(text, [{ offset: there.offset, length: there.length, content }]);
  }
  const known = keys.findIndex(
    (_, index) => findNodeAtLocation(root, keys.slice(0, index + 1)) === undefined,
  );
  const depth = known === -1 ? keys.length : known;
  const parent = depth === 0 ? root : findNodeAtLocation(root, keys.slice(0, depth));
  // `null` is an empty map
  if (parent?.type === 'null') {
    const content = indented(text, nested(path.slice(depth), entry), indentAt(text, parent.offset));
    return applyEdits(text, [{ offset: parent.offset, length: parent.length, content }]);
  }
  if (parent?.type !== 'object') return text;
  return applyEdits(
    text,
    insertInto(text, parent, path[depth] ?? name, nested(path.slice(depth + 1), entry)),
  );
}

/** The text without the entry. An object that held only the entry stays, empty. */
export function removeJson(text: string, keys: readonly string[], name: string): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const property = root === undefined ? undefined : findNodeAtLocation(root, [...keys, name])?.parent;
  const parent = property?.parent;
  if (property === undefined || parent?.children === undefined) return text;
  const index = parent.children.indexOf(property);
  const previous = parent.children[index - 1];
  const before = previous === undefined ? parent.offset + 1 : endOf(previous);
  const comma = commaAfter(text, endOf(property), endOf(parent) - 1);
  const start = contentEnd(text, before, property.offset);
  const end = comma === undefined ? endOf(property) : comma + 1;
  // The property that becomes the last one loses its comma, unless the file has a trailing comma there.
  const isLast = index === parent.children.length - 1;
  const dangling = isLast && comma === undefined ? commaAfter(text, before, property.offset) : undefined;
  if (dangling !== undefined) {
    return applyEdits(text, [cut(dangling, dangling + 1), cut(Math.max(start, dangling + 1), end)]);
  }
  const isEmptied = parent.children.length === 1 && !hasComment(text, parent);
  return applyEdits(text, [cut(start, isEmptied ? endOf(parent) - 1 : end)]);
}

function insertInto(text: string, parent: Node, key: string, value: unknown): Edit[] {
  const close = endOf(parent) - 1;
  const children = parent.children ?? [];
  const last = children.at(-1);
  const outer = indentAt(text, parent.offset);
  if (last !== undefined && isOneLine(text, parent)) {
    const offset = commaAfter(text, endOf(last), close) ?? endOf(last);
    return [insert(offset, `, ${JSON.stringify(key)}: ${JSON.stringify(value)}`)];
  }
  const first = children[0];
  const inner =
    first !== undefined && isFirstOnLine(text, first.offset)
      ? indentAt(text, first.offset)
      : outer + unitOf(text);
  const from = last === undefined ? parent.offset + 1 : endOf(last);
  const end = contentEnd(text, from, close);
  const comma = last === undefined ? undefined : commaAfter(text, from, close);
  const line = `${breakOf(text)}${inner}${JSON.stringify(key)}: ${indented(text, value, inner)}`;
  const tail = text.slice(end, close).includes('\n') ? '' : breakOf(text) + outer;
  const added = insert(end, `${line}${comma === undefined ? '' : ','}${tail}`);
  if (last === undefined || comma !== undefined) return [added];
  return [insert(from, ','), added];
}

/** The end of the last token between `start` and `end` that is not white space. */
function contentEnd(text: string, start: number, end: number): number {
  let last = start;
  for (const token of tokensOf(text, start, end)) {
    if (token.kind !== TOKEN.space && token.kind !== TOKEN.lineBreak) last = token.end;
  }
  return last;
}

function commaAfter(text: string, start: number, end: number): number | undefined {
  return tokensOf(text, start, end).find(({ kind }) => kind === TOKEN.comma)?.start;
}

function hasComment(text: string, { offset, length }: Node): boolean {
  return tokensOf(text, offset, offset + length).some(
    ({ kind }) => kind === TOKEN.lineComment || kind === TOKEN.blockComment,
  );
}

function tokensOf(text: string, start: number, end: number): { kind: number; start: number; end: number }[] {
  const scanner = createScanner(text.slice(start, end), false);
  const tokens = [];
  for (let kind: number = scanner.scan(); kind !== TOKEN.end; kind = scanner.scan()) {
    const at = start + scanner.getTokenOffset();
    tokens.push({ kind, start: at, end: at + scanner.getTokenLength() });
  }
  return tokens;
}

function isOneLine(text: string, { offset, length }: Node): boolean {
  return !text.slice(offset, offset + length).includes('\n');
}

function insert(offset: number, content: string): Edit {
  return { offset, length: 0, content };
}

function cut(start: number, end: number): Edit {
  return { offset: start, length: end - start, content: '' };
}

function indented(text: string, value: unknown, indent: string): string {
  return JSON.stringify(value, null, unitOf(text)).replaceAll('\n', breakOf(text) + indent);
}

/** One step of indentation in this file. */
function unitOf(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
}

function breakOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

function isFirstOnLine(text: string, offset: number): boolean {
  return text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset).trim() === '';
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

function nested(keys: readonly string[], value: unknown): unknown {
  return keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
}
