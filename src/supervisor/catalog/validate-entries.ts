import { isObject, type JsonObject } from '../../shared/json.js';
import type { Lists } from './lists.js';
import { schemaProblem, toolSchemaProblem } from './schema-problem.js';

/** The key that identifies an entry within its list. */
export const KEY: Readonly<Record<keyof Lists, string>> = {
  tools: 'name',
  prompts: 'name',
  resources: 'uri',
  templates: 'uriTemplate',
};

/** Deeper than any honest definition, and far from where JSON can no longer be written. */
const DEEPEST = 200;
const MOST_NAMED = 5;

/** The entries of a list that can be used, each under its own key, and what is wrong with some of them. */
export interface ValidEntries {
  items: JsonObject[];
  keys: ReadonlySet<string>;
  /** By key. Such an entry can be shown and used all the same. */
  problems: ReadonlyMap<string, string>;
}

/**
 * One bad definition does not spoil the others. An entry without a key is left out. Of two entries with the same key the
 * first counts: the second could not be called. Both are logged, once a list.
 */
export function validateEntries(
  list: keyof Lists,
  found: readonly JsonObject[],
  log: (text: string) => void,
): ValidEntries {
  const key = KEY[list];
  const items = new Map<string, JsonObject>();
  const problems = new Map<string, string>();
  const repeated = new Set<string>();
  let nameless = 0;
  for (const definition of found) {
    const name = definition[key];
    if (typeof name !== 'string' || name === '') nameless += 1;
    else if (items.has(name)) repeated.add(name);
    else {
      const isTooDeep = isValueDeeperThan(definition, DEEPEST);
      const problem = isTooDeep ? `is nested more than ${DEEPEST} deep` : problemOf(list, definition);
      if (problem !== undefined) problems.set(name, problem);
      items.set(name, isTooDeep ? { [key]: name } : definition);
    }
  }
  if (nameless > 0) log(`${nameless} of its ${list} have no usable ${key} and were left out`);
  if (repeated.size > 0) {
    const named = [...repeated].slice(0, MOST_NAMED).join(', ');
    const more = repeated.size > MOST_NAMED ? ` and ${repeated.size - MOST_NAMED} more` : '';
    log(`of its ${list} these came more than once, and the first counts: ${named}${more}`);
  }
  return { items: [...items.values()], keys: new Set(items.keys()), problems };
}

function problemOf(list: keyof Lists, definition: JsonObject): string | undefined {
  if (list === 'tools') return problemOfTool(definition);
  if (list === 'prompts') return problemOfPrompt(definition);
  return typeof definition.name === 'string' ? undefined : 'has no name';
}

function problemOfTool({ inputSchema, outputSchema }: JsonObject): string | undefined {
  const input = toolSchemaProblem(inputSchema);
  if (input !== undefined) return `its inputSchema cannot be compiled: ${withSubject(input)}`;
  const output = outputSchema === undefined ? undefined : schemaProblem(outputSchema);
  return output && `its outputSchema cannot be compiled: ${withSubject(output)}`;
}

function problemOfPrompt({ arguments: wanted }: JsonObject): string | undefined {
  if (wanted === undefined) return undefined;
  if (!Array.isArray(wanted)) return 'its arguments are no list';
  const isNamed = (one: unknown) => isObject(one) && typeof one.name === 'string';
  return wanted.every(isNamed) ? undefined : 'one of its arguments has no name';
}

/** `is missing` → `it is missing`; a complaint about a place within has its own subject. */
function withSubject(complaint: string): string {
  return /^(is|has) /.test(complaint) ? `it ${complaint}` : complaint;
}

function isValueDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isValueDeeperThan(inner, levels - 1));
}
