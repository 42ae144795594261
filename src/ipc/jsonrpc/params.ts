import { isObject } from '../../shared/json.js';
import { CODE } from '../../shared/mcp/rpc-codes.js';
import { RpcError } from './rpc-error.js';

/**
 * Reads the params of one request, field by field. Written by hand: a schema library would be larger than all the rest
 * of this folder. Unknown fields are ignored, so that a newer client may send more.
 */
export class Params {
  readonly #fields: Record<string, unknown>;

  constructor(params: unknown, name = 'params') {
    if (params !== undefined && params !== null && !isObject(params)) {
      throw wrong(`'${name}' must be an object`);
    }
    this.#fields = params ?? {};
  }

  /** A list of objects, each read by `read`. An error names the entry. */
  list<T>(name: string, read: (params: Params) => T): T[] {
    const list = this.#fields[name];
    if (!Array.isArray(list)) throw wrong(`'${name}' must be a list of objects`);
    return list.map((entry, at) => {
      const path = `${name}[${at}]`;
      try {
        return read(new Params(entry ?? {}, path));
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        throw new RpcError(CODE.invalidParams, `${error.message} (in '${path}')`);
      }
    });
  }

  optionalWhole(name: string): number | undefined {
    if (!this.has(name)) return undefined;
    const value = this.#fields[name];
    if (!Number.isSafeInteger(value) || (value as number) < 1)
      throw wrong(`'${name}' must be a whole number, 1 or more`);
    return value as number;
  }

  optionalChoice<T extends string>(name: string, known: readonly T[]): T | undefined {
    return this.has(name) ? this.choice(name, known) : undefined;
  }

  choice<T extends string>(name: string, known: readonly T[]): T {
    const value = this.text(name);
    if (!(known as readonly string[]).includes(value))
      throw wrong(`'${name}' is '${value}'; known are: ${known.join(', ')}`);
    return value as T;
  }

  has(name: string): boolean {
    return this.#fields[name] !== undefined && this.#fields[name] !== null;
  }

  text(name: string): string {
    const value = this.#fields[name];
    if (typeof value !== 'string' || value === '') throw wrong(`'${name}' must be a non-empty string`);
    return value;
  }

  optionalText(name: string): string | undefined {
    return this.has(name) ? this.text(name) : undefined;
  }

  texts(name: string): string[] {
    const list = this.#fields[name];
    if (!Array.isArray(list)) throw wrong(`'${name}' must be a list of strings`);
    for (const [at, entry] of list.entries()) {
      if (typeof entry !== 'string') throw wrong(`'${name}[${at}]' must be a string`);
    }
    return list as string[];
  }

  optionalTexts(name: string): string[] | undefined {
    return this.has(name) ? this.texts(name) : undefined;
  }

  /** A list of known values. */
  choices<T extends string>(name: string, known: readonly T[]): T[] {
    const list = this.texts(name);
    for (const [at, entry] of list.entries()) {
      if (!(known as readonly string[]).includes(entry)) {
        throw wrong(`'${name}[${at}]' is '${entry}'; known are: ${known.join(', ')}`);
      }
    }
    return list as T[];
  }

  optionalFlag(name: string): boolean | undefined {
    if (!this.has(name)) return undefined;
    const value = this.#fields[name];
    if (typeof value !== 'boolean') throw wrong(`'${name}' must be true or false`);
    return value;
  }

  /** `from`: whether 0 is allowed. */
  optionalMs(name: string, from: 0 | 1): number | undefined {
    if (!this.has(name)) return undefined;
    const value = this.#fields[name];
    if (typeof value !== 'number' || !Number.isFinite(value) || value < from) {
      throw wrong(`'${name}' must be a number of milliseconds, ${from} or more`);
    }
    return value;
  }

  optionalRecord(name: string): Record<string, unknown> | undefined {
    if (!this.has(name)) return undefined;
    const value = this.#fields[name];
    if (!isObject(value)) throw wrong(`'${name}' must be an object`);
    return value;
  }

  /** All fields except `_meta`. */
  rest(): Record<string, unknown> {
    const { _meta, ...rest } = this.#fields;
    return rest;
  }

  /** A string of `_meta`. */
  meta(name: string): string | undefined {
    return new Params(this.optionalRecord('_meta'), '_meta').optionalText(name);
  }

  /** A time in ISO 8601. */
  optionalTime(name: string): string | undefined {
    const text = this.optionalText(name);
    if (text !== undefined && Number.isNaN(Date.parse(text)))
      throw wrong(`'${name}' must be a time such as '2026-01-31T12:00:00Z'`);
    return text;
  }

  /** The token that each progress notification repeats to the caller. */
  progressToken(): string | number | undefined {
    const token = this.optionalRecord('_meta')?.progressToken;
    if (token === undefined || typeof token === 'string' || typeof token === 'number') return token;
    throw wrong("'_meta.progressToken' must be a string or a number");
  }
}

export function wrong(message: string): RpcError {
  return new RpcError(CODE.invalidParams, `Invalid params: ${message}`);
}
