import { isObject } from '../../shared/json.js';
import { didYouMean, nearMiss } from '../../shared/text/near-miss.js';
import { ConfigError, formatPath, type Path, type Problem } from './problem.js';

/** Plain data. Its objects have no prototype, so `__proto__` is an ordinary key. */
export type Data = null | boolean | number | string | Data[] | { [key: string]: Data };
export type DataMap = { [key: string]: Data };

interface Position {
  key: number;
  value: number;
}

/** The offsets of each child of each list and map. */
export type Positions = WeakMap<object, Map<string | number, Position>>;

/** The most names that are compared for suggestions in one file: a hostile file may have 20,000 wrong names. */
const MAX_COMPARISONS = 20_000;

/** A parsed file, with the position of every key and value. */
export class SourceDocument {
  readonly file: string;
  readonly text: string;
  readonly value: Data;
  readonly #positions: Positions;
  readonly #start: number;
  #lines: LineIndex | undefined;
  #comparisons = 0;

  constructor(file: string, text: string, value: Data, positions: Positions, start: number) {
    this.file = file;
    this.text = text;
    this.value = value;
    this.#positions = positions;
    this.#start = start;
  }

  /** The position of a key or its value. For a path that does not exist, that of its nearest existing parent. */
  position(path: Path, what: 'key' | 'value' = 'value'): { line: number; column: number } {
    let offset = this.#start;
    let node: unknown = this.value;
    path.every((step, index) => {
      const child =
        typeof node === 'object' && node !== null ? this.#positions.get(node)?.get(step) : undefined;
      if (child === undefined) return false;
      offset = what === 'key' && index === path.length - 1 ? child.key : child.value;
      node = (node as Record<string | number, unknown>)[step];
      return true;
    });
    this.#lines ??= new LineIndex(this.text);
    return this.#lines.at(offset);
  }

  /** As `nearMiss`, but undefined once this file has used up its comparisons. */
  nearMiss(word: string, candidates: readonly string[]): string | undefined {
    return this.#mayCompare(candidates) ? nearMiss(word, candidates) : undefined;
  }

  /** As `didYouMean`, but empty once this file has used up its comparisons. */
  didYouMean(word: string, candidates: readonly string[]): string {
    return this.#mayCompare(candidates) ? didYouMean(word, candidates) : '';
  }

  #mayCompare({ length }: readonly string[]): boolean {
    if (this.#comparisons + length > MAX_COMPARISONS) return false;
    this.#comparisons += length;
    return true;
  }

  problem(
    type: Problem['type'],
    path: Path,
    message: string,
    fix: string,
    what: 'key' | 'value' = 'value',
  ): Problem {
    return { type, message, fix, file: this.file, ...this.position(path, what), path: formatPath(path) };
  }
}

/** `isObject` for the data of a file. */
export function isMap(value: unknown): value is DataMap {
  return isObject(value);
}

/** Visits every string of a value with its path, however deep it is nested. Keys are not visited. */
export function eachString(value: unknown, path: Path, visit: (text: string, path: Path) => void): void {
  if (typeof value === 'string') visit(value, path);
  else if (Array.isArray(value))
    value.forEach((item, index) => void eachString(item, [...path, index], visit));
  else if (isMap(value))
    for (const [key, item] of Object.entries(value)) eachString(item, [...path, key], visit);
}

/** Turns offsets into lines and columns. The starts of lines are found once, since a file can have many problems. */
export class LineIndex {
  readonly #starts: number[] = [0];
  readonly #bom: number;

  constructor(text: string) {
    this.#bom = text.startsWith('\uFEFF') ? 1 : 0;
    for (const { index, 0: ending } of text.matchAll(/\r\n|\n|\r/g)) this.#starts.push(index + ending.length);
  }

  at(offset: number): { line: number; column: number } {
    let low = 0;
    let high = this.#starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    const column = offset - this.#starts[low]! + 1 - (low === 0 ? this.#bom : 0);
    return { line: low + 1, column: Math.max(1, column) };
  }
}

/**
 * The error for a text that cannot be parsed. It names positions and never quotes the text, which may hold a secret.
 */
export function unreadable(
  file: string,
  text: string,
  faults: readonly { message: string; fix: string; offset: number }[],
): ConfigError {
  const lines = new LineIndex(text);
  return new ConfigError(
    faults.map(({ message, fix, offset }) => ({
      type: 'ConfigError',
      message,
      fix,
      file,
      ...lines.at(offset),
      path: '',
    })),
  );
}
