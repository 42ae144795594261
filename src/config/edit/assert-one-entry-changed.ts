import { isDeepStrictEqual } from 'node:util';
import type { ConfigError } from '../parse/problem.js';
import { uneditable } from './edit-error.js';
import type { ListKey } from './locate.js';
import { parseValues } from './parse.js';

const LIST_KEYS: readonly ListKey[] = ['tools', 'mcp_servers'];

/**
 * Checks every edit, whatever produced it: the new text must parse, one list must differ by exactly one item, and every
 * other value must be unchanged. Throws otherwise.
 */
export function assertOneEntryChanged(before: string, after: string): void {
  const old = keysOf(parseValues(before).value);
  const now = keysOf(parseValues(after).value);
  if (old === undefined || now === undefined) throw unexpected('the top level of the file is not a mapping');
  // An empty file may get a version together with its first entry.
  if (old.size === 0) now.delete('version');
  const changed = [...new Set([...old.keys(), ...now.keys()])].filter(
    (key) => !isDeepStrictEqual(old.get(key), now.get(key)),
  );
  const [key, second] = changed;
  if (key === undefined) throw unexpected('nothing would change');
  if (second !== undefined) throw unexpected(`both '${key}' and '${second}' would change`);
  if (!LIST_KEYS.some((list) => list === key)) throw unexpected(`'${key}' would change`);
  if (!differByOne(old.get(key) ?? [], now.get(key) ?? [])) {
    throw unexpected(`'${key}' would change by something else than one entry`);
  }
}

function keysOf(value: unknown): Map<string, unknown> | undefined {
  if (value === null || value === undefined) return new Map();
  if (typeof value !== 'object' || Array.isArray(value)) return undefined;
  return new Map(Object.entries(value));
}

function differByOne(old: unknown, now: unknown): boolean {
  if (!Array.isArray(old) || !Array.isArray(now) || Math.abs(old.length - now.length) !== 1) return false;
  const [longer, shorter] = old.length > now.length ? [old, now] : [now, old];
  const differing = shorter.findIndex((item, index) => !isDeepStrictEqual(item, longer[index]));
  const odd = differing === -1 ? shorter.length : differing;
  return isDeepStrictEqual(longer.toSpliced(odd, 1), shorter);
}

function unexpected(why: string): ConfigError {
  const message = `The edit would do something else than add or remove one entry: ${why}`;
  return uneditable('', 0, message, 'nothing was written; change the file by hand');
}
