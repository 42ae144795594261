import { createScanner, type Node, parseTree } from 'jsonc-parser';
import { type Data, type DataMap, type Places, SourceDocument, unreadable } from './document.js';
import { LIMITS, type Refusal, TOO_DEEP, TOO_LARGE } from './input-limits.js';

/** The scanner's token kinds that matter here (its own enum is erased at build time). */
const TOKEN = { openBrace: 1, closeBrace: 2, openBracket: 3, closeBracket: 4, end: 17 } as const;

/**
 * Parses one JSON text; comments and trailing commas are let through, since people put both into such files.
 * Throws a ConfigError that names the place.
 */
export function parseJson(file: string, text: string): SourceDocument {
  // Some editors write a byte order mark, which is no JSON; a space in its stead keeps every place as it is.
  const json = text.replace(/^\uFEFF/, ' ');
  const refusal = checkJson(json);
  if (refusal !== undefined) throw unreadable(file, text, [refusal]);
  const errors: { error: number; offset: number; length: number }[] = [];
  const root = parseTree(json, errors, { allowTrailingComma: true, disallowComments: false });
  if (errors.length > 0 || root === undefined) {
    const places = errors.length > 0 ? errors.slice(0, 20) : [{ offset: 0 }];
    throw unreadable(
      file,
      text,
      places.map(({ offset }) => ({
        message: 'Not valid JSON',
        fix: 'correct the syntax at this place',
        offset,
      })),
    );
  }
  const places: Places = new WeakMap();
  const duplicates: Refusal[] = [];
  const value = convert(root, places, duplicates);
  if (duplicates.length > 0) throw unreadable(file, text, duplicates);
  return new SourceDocument(file, text, value, places, root.offset);
}

/** The parser recurses, the scanner does not. */
function checkJson(text: string): Refusal | undefined {
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

function convert(node: Node, places: Places, duplicates: Refusal[]): Data {
  if (node.type === 'array') {
    const list: Data[] = [];
    const at = new Map<number, { key: number; value: number }>();
    for (const child of node.children ?? []) {
      at.set(list.length, { key: child.offset, value: child.offset });
      list.push(convert(child, places, duplicates));
    }
    places.set(list, at);
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
      duplicates.push({ message: 'A key stands here twice', fix: 'remove one', offset: key.offset });
    }
    at.set(name, { key: key.offset, value: value.offset });
    map[name] = convert(value, places, duplicates);
  }
  places.set(map, at);
  return map;
}
