import type { CleanNames } from './clean-names.js';

/** So much of the arguments is described, however large they are. */
const MOST_NAMES = 48;
const MOST_DEPTH = 3;

/**
 * The shape of some arguments as JSON: names and types, never a value. Written as text at once, because it is done for
 * every call and read for few.
 */
export function shapeText(value: unknown, names: CleanNames): string {
  return new Shaping(names).textOf(value, 0);
}

class Shaping {
  readonly #names: CleanNames;
  #left = MOST_NAMES;

  constructor(names: CleanNames) {
    this.#names = names;
  }

  textOf(value: unknown, depth: number): string {
    if (typeof value !== 'object' || value === null) return plainText(value);
    const isList = Array.isArray(value);
    if (depth === MOST_DEPTH) return isList ? '"array"' : '"object"';
    // of a list the first one stands for all
    if (isList) return value.length === 0 ? '[]' : `[${this.textOf(value[0], depth + 1)}]`;
    return `{${this.#membersOf(value as Record<string, unknown>, depth)}}`;
  }

  #membersOf(object: Record<string, unknown>, depth: number): string {
    let text = '';
    let others = '';
    for (const key in object) {
      const name = this.#left > 0 ? this.#names.argument(key) : '';
      if (name !== '') {
        this.#left -= 1;
        text += `${text === '' ? name : `,${name}`}:${this.textOf(object[key], depth + 1)}`;
      } else if (others === '') others = `"*":${this.textOf(object[key], MOST_DEPTH)}`;
      if (this.#left === 0 && others !== '') break;
    }
    return text === '' || others === '' ? text + others : `${text},${others}`;
  }
}

function plainText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return '"string"';
    case 'number':
      return '"number"';
    case 'boolean':
      return '"boolean"';
    default:
      return '"null"';
  }
}
