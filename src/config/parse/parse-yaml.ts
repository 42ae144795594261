import {
  type Alias,
  type Document,
  isAlias,
  isMap as isMapNode,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  type YAMLMap,
} from 'yaml';
import { type Data, type DataMap, isMap, type Positions, SourceDocument, unreadable } from './document.js';
import { checkText, LIMITS, TOO_DEEP } from './input-limits.js';

/** A problem found during conversion. The first one ends it. */
class YamlProblem extends Error {
  readonly fix: string;
  readonly offset: number;
  constructor(message: string, fix: string, offset: number) {
    super(message);
    this.fix = fix;
    this.offset = offset;
  }
}

/** The most nodes that a file may expand to, all copies of aliases counted. */
const MAX_NODES = 100_000;

/** Our own messages: those of the library quote the source, which may hold a secret. */
const SYNTAX: Record<string, string> = {
  BAD_ALIAS: 'An alias (*name) has no anchor (&name) before it',
  BAD_DIRECTIVE: 'A % directive is not valid',
  BAD_DQ_ESCAPE: 'A double-quoted string holds an unknown \\ escape',
  BAD_INDENT: 'The indentation is not consistent',
  BAD_SCALAR_START: 'A plain value cannot start with this character',
  BLOCK_AS_IMPLICIT_KEY: 'A key and a nested value cannot share a line',
  BLOCK_IN_FLOW: 'A block collection is not allowed inside [ ] or { }',
  KEY_OVER_1024_CHARS: 'A key is longer than 1024 characters',
  MISSING_CHAR: 'A quote, bracket, comma, colon or space is missing',
  MULTILINE_IMPLICIT_KEY: 'A key runs over several lines, or a colon is missing after it',
  MULTIPLE_DOCS: 'The file holds more than one document',
  TAB_AS_INDENT: 'Tabs cannot be used as indentation',
  UNEXPECTED_TOKEN: 'Unexpected text',
};

/**
 * Parses a YAML text. Throws a ConfigError with the position. A text over the input limits never reaches the parser.
 */
export function parseYaml(file: string, text: string): SourceDocument {
  const refusal = checkText(text);
  if (refusal !== undefined) throw unreadable(file, text, [refusal]);
  // Duplicate keys are found below: the library's check is quadratic in the number of keys.
  const document = parseDocument(text, {
    version: '1.2',
    schema: 'core',
    uniqueKeys: false,
    resolveKnownTags: false,
    prettyErrors: false,
    // 'silent' would also hide the error for several documents.
    logLevel: 'error',
  });
  if (document.errors.length > 0) {
    throw unreadable(
      file,
      text,
      document.errors.slice(0, 20).map(({ code, pos }) => ({
        message: `Not valid YAML: ${SYNTAX[code] ?? 'the syntax is wrong'}`,
        fix: 'correct the syntax at this place; quote a value that holds special characters',
        offset: pos[0],
      })),
    );
  }
  try {
    return new Converter(document).convert(file, text);
  } catch (error) {
    if (error instanceof YamlProblem) throw unreadable(file, text, [error]);
    throw error;
  }
}

class Converter {
  readonly #root: Node | null;
  readonly #positions: Positions = new WeakMap();
  readonly #anchors = new Map<string, Node>();
  #nodes = 0;

  constructor(document: Document) {
    this.#root = document.contents as Node | null;
  }

  convert(file: string, text: string): SourceDocument {
    const value = this.#node(this.#root, 0, 0);
    return new SourceDocument(file, text, value, this.#positions, startOf(this.#root, 0));
  }

  #node(node: Node | null, depth: number, offset: number): Data {
    if (++this.#nodes > MAX_NODES)
      throw new YamlProblem('The aliases expand to too many values', 'write the values out', offset);
    if (node === null) return null;
    if (isAlias(node)) return this.#alias(node, depth);
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (isScalar(node)) return scalar(node.value);
    // The depth counts this node and everything that encloses it.
    if (depth >= LIMITS.depth) throw new YamlProblem(TOO_DEEP.message, TOO_DEEP.fix, startOf(node, offset));
    if (isMapNode(node)) return this.#map(node, depth);
    if (!isSeq(node))
      throw new YamlProblem('Not valid YAML: the syntax is wrong', 'correct it', startOf(node, offset));
    const list: Data[] = [];
    const positions = new Map<number, { key: number; value: number }>();
    for (const item of node.items) {
      const start = startOf(item as Node, startOf(node, offset));
      positions.set(list.length, { key: start, value: start });
      list.push(this.#node(item as Node | null, depth + 1, start));
    }
    this.#positions.set(list, positions);
    return list;
  }

  #alias(alias: Alias, depth: number): Data {
    const target = this.#anchors.get(alias.source);
    if (target !== undefined) return this.#node(target, depth + 1, startOf(alias, 0));
    throw new YamlProblem(
      `Not valid YAML: ${SYNTAX.BAD_ALIAS}`,
      'define the anchor first',
      startOf(alias, 0),
    );
  }

  #map(node: YAMLMap, depth: number): DataMap {
    const map: DataMap = Object.create(null);
    const positions = new Map<string, { key: number; value: number }>();
    this.#positions.set(map, positions);
    const merges: Data[] = [];
    for (const pair of node.items as Pair<Node, Node | null>[]) {
      if (!isPair(pair)) continue;
      const start = startOf(pair.key, startOf(node, 0));
      const key = this.#key(pair.key, start);
      const value = this.#node(pair.value, depth + 1, start);
      if (key === '<<' && isScalar(pair.key) && pair.key.type === 'PLAIN') {
        merges.push(...(Array.isArray(value) ? value : [value]));
        continue;
      }
      if (Object.hasOwn(map, key)) throw new YamlProblem(`Duplicate key ${show(key)}`, 'remove one', start);
      map[key] = value;
      positions.set(key, { key: start, value: startOf(pair.value, start) });
    }
    for (const merge of merges) this.#merge(map, positions, merge, startOf(node, 0));
    return map;
  }

  /** `<<: *base` adds the keys that the map does not have; of several merges the first wins. */
  #merge(
    map: DataMap,
    positions: Map<string, { key: number; value: number }>,
    from: Data,
    start: number,
  ): void {
    if (!isMap(from))
      throw new YamlProblem("'<<' needs a map, or a list of maps", 'merge a map (*anchor)', start);
    for (const [key, value] of Object.entries(from)) {
      if (Object.hasOwn(map, key)) continue;
      map[key] = value;
      positions.set(key, { key: start, value: start });
    }
  }

  #key(node: Node | null, start: number): string {
    const key = node !== null && isAlias(node) ? this.#anchors.get(node.source) : node;
    if (key === null || isScalar(key)) return key === null ? '' : String(key.value ?? '');
    throw new YamlProblem('A key must be a plain name, not a list or a map', 'write the key as text', start);
  }
}

function scalar(value: unknown): Data {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  return String(value);
}

function startOf(node: Node | null, fallback: number): number {
  return node?.range?.[0] ?? fallback;
}

/** Names from a file are quoted, shortened and kept on one line. */
function show(name: string): string {
  const text = JSON.stringify(name);
  return text.length > 60 ? `${text.slice(0, 57)}…"` : text;
}
