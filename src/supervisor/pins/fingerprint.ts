import { createHash } from 'node:crypto';
import type { ServerSpec } from '../../config/schema/spec.js';
import { isObject, type JsonObject } from '../../shared/json.js';

/**
 * The identity of a server for its pins: its name, and where its tools come from. Another command, another version in its arguments or
 * another address is another server, with other pins. What may change while the tools stay what they are is not in
 * it: an environment and headers hold tokens, which are renewed, and so may the query of an url. If those counted, a
 * changed tool would go unnoticed with every new token.
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

/** What of a tool's definition counts: what a model reads of it, and what it sends and is sent. */
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
