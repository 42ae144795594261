import { createHash } from 'node:crypto';
import type { ServerSpec } from '../../config/fields/spec.js';
import { isObject, type JsonObject } from '../../shared/json.js';

/**
 * The identity of a server for its pins: its name, and where its tools come from. Another command, another version in its
 * arguments or another address is another server, with other pins. Environment, headers and the query of a url are not
 * in it, because they hold tokens, which are renewed. If those counted, a changed tool would pass with every new token.
 */
export function pinIdentity(spec: ServerSpec): string {
  const { name, transport } = spec;
  const source =
    spec.transport === 'stdio'
      ? { command: spec.command, args: spec.args, cwd: spec.cwd }
      : { url: placeOf(spec.url) };
  return createHash('sha256')
    .update(JSON.stringify({ name, transport, ...source }))
    .digest('hex');
}

function placeOf(url: string): string {
  // the url of a disabled server may still have its variables in it
  if (!URL.canParse(url)) return url.replace(/[?#].*$/s, '');
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/** The fields of a definition that count: those that a model reads, and the schemas. */
const FIELDS = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const;

export type Field = (typeof FIELDS)[number];

/** The part of a definition that counts. */
export function pinnable(tool: JsonObject): JsonObject {
  return Object.fromEntries(
    FIELDS.filter((field) => tool[field] !== undefined).map((field) => [field, tool[field]]),
  );
}

export function hashOf(tool: JsonObject): string {
  return createHash('sha256')
    .update(canonical(pinnable(tool)))
    .digest('hex');
}

/** The same text for the same value, in whichever order its keys came. By hand: `__proto__` is a key like any other. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? '';
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
  return `{${members.join(',')}}`;
}

/** Which parts of two definitions are not the same. */
export function changedFields(before: JsonObject, after: JsonObject): Field[] {
  return FIELDS.filter((field) => canonical(before[field]) !== canonical(after[field]));
}
