import { isDeepStrictEqual } from 'node:util';
import { createScanner, findNodeAtLocation, getNodeValue, type Node, parseTree } from 'jsonc-parser';

/** The scanner's kinds of tokens that matter here (its own enum is erased at build time). */
const TOKEN = { comma: 5, lineComment: 12, blockComment: 13, lineBreak: 14, space: 15, end: 17 } as const;

/** Those of one change stand in the order of the text. */
interface Splice {
  start: number;
  end: number;
  insert: string;
}

/**
 * The text with `entry` under `keys` and `name`; whatever else stands in it stays byte for byte. jsonc-parser could
 * do this too, but it lays out anew what shares a line with the change.
 */
export function setJson(text: string, keys: readonly string[], name: string, entry: unknown): string {
  const root = text.trim() === '' ? undefined : parseTree(text, [], { allowTrailingComma: true });
  if (root === undefined) return `${JSON.stringify(nested([...keys, name], entry), null, 2)}\n`;
  const path = [...keys, name];
  const there = findNodeAtLocation(root, path);
  if (there !== undefined) {
    if (isDeepStrictEqual(JSON.parse(JSON.stringify(getNodeValue(there))), entry)) return text;
    const splice = { start: there.offset, end: endOf(there), insert: '' };
    splice.insert = printed(text, entry, indentAt(text, there.parent?.offset ?? there.offset), homeOf(there));
    return apply(text, [splice]);
  }
  const known = keys.findIndex(
    (_, index) => findNodeAtLocation(root, keys.slice(0, index + 1)) === undefined,
  );
  const depth = known === -1 ? keys.length : known;
  const home = depth === 0 ? root : findNodeAtLocation(root, keys.slice(0, depth));
  if (home?.type !== 'object') return text;
  return apply(text, addTo(text, home, path[depth] ?? name, nested(path.slice(depth + 1), entry)));
}

/** The text without the entry; an object that held nothing else stays, empty. */
export function removeJson(text: string, keys: readonly string[], name: string): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const property = root === undefined ? undefined : findNodeAtLocation(root, [...keys, name])?.parent;
  const home = property?.parent;
  if (property === undefined || home?.children === undefined) return text;
  const index = home.children.indexOf(property);
  const previous = home.children[index - 1];
  const before = previous === undefined ? home.offset + 1 : endOf(previous);
  const comma = commaAfter(text, endOf(property), endOf(home) - 1);
  const start = contentEnd(text, before, property.offset);
  const cut = { start, end: comma === undefined ? endOf(property) : comma + 1, insert: '' };
  // What was the last property has no comma behind it, unless the file likes one there.
  const isLast = index === home.children.length - 1;
  const dangling = isLast && comma === undefined ? commaAfter(text, before, property.offset) : undefined;
  if (previous === undefined || dangling === undefined) {
    if (home.children.length === 1 && !hasComment(text, home)) cut.end = endOf(home) - 1;
    return apply(text, [cut]);
  }
  return apply(text, [
    { start: dangling, end: dangling + 1, insert: '' },
    { ...cut, start: Math.max(start, dangling + 1) },
  ]);
}

function addTo(text: string, home: Node, key: string, value: unknown): Splice[] {
  const close = endOf(home) - 1;
  const children = home.children ?? [];
  const last = children.at(-1);
  const outer = indentAt(text, home.offset);
  const isOneLine = last !== undefined && !text.slice(home.offset, close).includes('\n');
  if (isOneLine) {
    const insert = `, ${JSON.stringify(key)}: ${JSON.stringify(value)}`;
    const comma = commaAfter(text, endOf(last), close);
    return comma === undefined
      ? [{ start: endOf(last), end: endOf(last), insert }]
      : [{ start: comma, end: comma, insert }];
  }
  const first = children[0];
  const inner =
    first !== undefined && isFirstOnLine(text, first.offset)
      ? indentAt(text, first.offset)
      : outer + unitOf(text);
  const from = last === undefined ? home.offset + 1 : endOf(last);
  const end = contentEnd(text, from, close);
  const comma = last === undefined ? undefined : commaAfter(text, from, close);
  const line = `${breakOf(text)}${inner}${JSON.stringify(key)}: ${indented(text, value, inner)}`;
  const tail = text.slice(end, close).includes('\n') ? '' : breakOf(text) + outer;
  const added = { start: end, end, insert: `${line}${comma === undefined ? '' : ','}${tail}` };
  if (last === undefined || comma !== undefined) return [added];
  return [{ start: from, end: from, insert: ',' }, added];
}

/** Behind the last thing in a stretch that is more than space. */
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

/** The object that an entry stands in: where that is one line, so is the entry. */
function homeOf(entry: Node): Node {
  return entry.parent?.parent ?? entry;
}

function printed(text: string, value: unknown, indent: string, { offset, length }: Node): string {
  const isOneLine = !text.slice(offset, offset + length).includes('\n');
  return isOneLine ? JSON.stringify(value) : indented(text, value, indent);
}

function indented(text: string, value: unknown, indent: string): string {
  return JSON.stringify(value, null, unitOf(text)).replaceAll('\n', breakOf(text) + indent);
}

/** What one step of indentation is in this file. */
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

function apply(text: string, splices: readonly Splice[]): string {
  let result = '';
  let done = 0;
  for (const { start, end, insert } of splices) {
    result += text.slice(done, start) + insert;
    done = end;
  }
  return result + text.slice(done);
}
