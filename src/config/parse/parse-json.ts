import { createScanner, type Node, parseTree } from 'jsonc-parser';
import { type Data, type DataMap, type Positions, SourceDocument, unreadable } from './document.js';
import { LIMITS, type TextProblem, TOO_DEEP, TOO_LARGE } from './input-limits.js';

/** The token kinds of jsonc-parser's scanner. Its own `SyntaxKind` is a const enum and does not exist at run time. */
export const TOKEN = {
  openBrace: 1,
  closeBrace: 2,
  openBracket: 3,
  closeBracket: 4,
  comma: 5,
  lineComment: 12,
  blockComment: 13,
  lineBreak: 14,
  space: 15,
  end: 17,
} as const;

/**
 * Parses a JSON text. Comments and trailing commas are accepted, since people write both in config files. Throws a
 * ConfigError with the position.
 */
export function parseJson(file: string, text: string): SourceDocument {
  // Some editors write a byte order mark, which is not JSON. A space in its place keeps all offsets.
  const json = text.replace(/^\uFEFF/, ' ');
  const refusal = checkJson(json);
  if (refusal !== undefined) throw unreadable(file, text, [refusal]);
  const errors: { error: number; offset: number; length: number }[] = [];
  const root = parseTree(json, errors, { allowTrailingComma: true, disallowComments: false });
  if (errors.length > 0 || root === undefined) {
    const positions = errors.length > 0 ? errors.slice(0, 20) : [{ offset: 0 }];
    throw unreadable(
      file,
      text,
      positions.map(({ offset }) => ({
        message: 'Not valid JSON',
        fix: 'correct the syntax at this place',
        offset,
      })),
    );
  }
  const positions: Positions = new WeakMap();
  const duplicates: TextProblem[] = [];
  const value = convert(root, positions, duplicates);
  if (duplicates.length > 0) throw unreadable(file, text, duplicates);
  return new SourceDocument(file, text, value, positions, root.offset);
}

/** Measured on the tokens: the parser recurses, the scanner does not. */
function checkJson(text: string): TextProblem | undefined {
  if (Buffer.byteLength(text) > LIMITS.bytes) return { ...TOO_LARGE, offset: 0 };
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let kind: number = scanner.scan(); kind !== TOKEN.end; kind = scanner.scan()) {
    if (kind === TOKEN.openBrace || kind === TOKEN.openBracket) depth++;
    if (kind === TOKEN.closeBrace || kind === TOKEN.closeBracket) depth--;
    if (depth > LIMITS.depth) return { ...TOO_DEEP, offset: scanner.getTokenOffset() };
  }
  return undefined;
}

function convert(node: Node, positions: Positions, duplicates: TextProblem[]): Data {
  if (node.type === 'array') {
    const list: Data[] = [];
    const at = new Map<number, { key: number; value: number }>();
    for (const child of node.children ?? []) {
      at.set(list.length, { key: child.offset, value: child.offset });
      list.push(convert(child, positions, duplicates));
    }
    positions.set(list, at);
    return list;
  }
  if (node.type !== 'object') return (node.value ?? null) as Data;
  const map: DataMap = Object.create(null);
  const at = new Map<string, { key: number; value: number }>();
  for (const property of node.children ?? []) {
    const [key, value] = property.children ?? [];
    if (key === undefined || value === undefined) continue;
    const name = String(key.value);
    if (Object.hasOwn(map, name)) {
      duplicates.push({ message: 'Duplicate key', fix: 'remove one', offset: key.offset });
    }
    at.set(name, { key: key.offset, value: value.offset });
    map[name] = convert(value, positions, duplicates);
  }
  positions.set(map, at);
  return map;
}
