import type { Shape } from '../../fleet/fleet.js';
import type { CleanNames } from './clean-names.js';

/** At most this much of the arguments is described, however large they are. */
const MOST_NAMES = 48;
const MOST_DEPTH = 3;

/** The shape of some arguments: names and types, never a value. */
export function shapeOf(value: unknown, names: CleanNames): Shape {
  return new Shaping(names).shapeOf(value, 0);
}

class Shaping {
  readonly #names: CleanNames;
  #left = MOST_NAMES;

  constructor(names: CleanNames) {
    this.#names = names;
  }

  shapeOf(value: unknown, depth: number): Shape {
    if (typeof value !== 'object' || value === null) return plainType(value);
    const isList = Array.isArray(value);
    if (depth === MOST_DEPTH) return isList ? 'array' : 'object';
    // the first item of a list stands for all
    if (isList) return value.length === 0 ? [] : [this.shapeOf(value[0], depth + 1)];
    return this.#membersOf(value as Record<string, unknown>, depth);
  }

  /** Members whose key may be data, and those beyond the limit, are one member `*`. */
  #membersOf(object: Record<string, unknown>, depth: number): Shape {
    const shape: Record<string, Shape> = {};
    let others: Shape | undefined;
    for (const key in object) {
      const name = this.#left > 0 ? this.#names.argument(key) : undefined;
      if (name !== undefined) {
        this.#left -= 1;
        shape[name] = this.shapeOf(object[key], depth + 1);
      } else others ??= this.shapeOf(object[key], MOST_DEPTH);
      if (this.#left === 0 && others !== undefined) break;
    }
    return others === undefined ? shape : { ...shape, '*': others };
  }
}

function plainType(value: unknown): Shape {
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'null';
}
