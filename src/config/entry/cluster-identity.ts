import { createHash } from 'node:crypto';
import { HIDDEN, hideInArguments } from '../../shared/secrets/hide-secrets.js';
import { looksSecret } from '../../shared/secrets/secret-name.js';
import { FIELDS, type FieldName } from '../fields/entry-fields.js';
import type { ParsedEntry } from '../fields/parsed-entry.js';
import { isMap } from '../parse/document.js';
import { parseReferences } from '../variables/variables.js';

/** What a server does is decided by these. The others say how a node runs it, and nodes may differ in that. */
const DECIDING = [
  'name',
  'server',
  'transport',
  'command',
  'args',
  'url',
  'env',
  'envFile',
  'cwd',
  'config',
  'roots',
  'plugin_dir',
  'runtime_hint',
  'manifest',
  'lifecycle',
  'tools',
] as const satisfies readonly FieldName[];

/**
 * What makes entries of several nodes one server: what they run, as it is written. Left out is what differs by machine or
 * may be secret: values of variables, their defaults, values of env and headers, and texts that look like secrets. So a
 * reader of the identity cannot try out secrets on it.
 */
export function clusterIdentity(entry: ParsedEntry): string {
  const { fields, transport } = entry;
  const parts = DECIDING.map((field) => {
    if (field === 'transport') return transport;
    const value = fields[field] ?? FIELDS[field].default;
    if (field === 'env') return namesOf(fields.env);
    if (field === 'args' && Array.isArray(value)) return hidden(value.map(String));
    return plain(value);
  });
  const text = JSON.stringify([...parts, namesOf(fields.headers)]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

function namesOf(value: unknown): string[] {
  return isMap(value) ? Object.keys(value).sort() : [];
}

/** A value without its secrets, its keys in order. */
function plain(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => plain(one, name));
  if (isMap(value))
    return Object.keys(value)
      .sort()
      .map((key) => [key, plain(value[key], key)]);
  if (looksSecret(name)) return HIDDEN;
  return typeof value === 'string' ? hidden([value])[0] : value;
}

/** References stay as names: their values and defaults are those of a machine. */
function hidden(texts: readonly string[]): string[] {
  const referring = texts.map((text) =>
    parseReferences(text)
      .map((part) => {
        if (part.kind === 'text' || part.kind === 'malformed') return part.text;
        return part.kind === 'variable' ? `\${${part.name}}` : `\${${part.kind}}`;
      })
      .join(''),
  );
  return hideInArguments(referring).words;
}
