import { type Data, isMap } from '../parse/document.js';
import type { FieldName } from '../schema/fields.js';
import { parseReferences } from '../variables/variables.js';
import { type ParsedEntry, stringMap } from './parsed-entry.js';

/** In which variables are filled in, `env` aside. */
const EXPANDED: readonly FieldName[] = ['headers', 'url', 'args', 'cwd', 'config', 'roots'];

/**
 * The names of the variables that an entry takes from around it, wherever in it they stand, as written: nothing is looked
 * up. `args`: those of its manifest. What it sets itself in `env` is its own.
 */
export function referencedVariables({ fields }: ParsedEntry, args: readonly string[]): string[] {
  const env = stringMap(fields.env);
  const others = [...EXPANDED.map((field) => fields[field]), [...args]].flatMap(namesIn);
  const names = [...namesIn(env), ...others.filter((name) => !Object.hasOwn(env, name))];
  return [...new Set(names)].sort();
}

function namesIn(value: Data | undefined): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (isMap(value)) return Object.values(value).flatMap(namesIn);
  if (typeof value !== 'string') return [];
  return parseReferences(value).flatMap((part) => (part.kind === 'variable' ? [part.name] : []));
}
