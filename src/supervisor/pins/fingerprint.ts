import { createHash } from 'node:crypto';
import { isObject, type JsonObject } from '../../shared/json.js';

/** What of a tool's definition counts: what a model reads of it, and what it sends and is sent. */
export const FIELDS = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const;

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
