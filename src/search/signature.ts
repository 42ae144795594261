import { isObject, type JsonObject } from '../shared/json.js';

/** More is not shown: a list of found tools has one line a tool. */
const LONGEST_SENTENCE = 300;
const MOST_ARGUMENTS = 12;
const MOST_CHOICES = 5;

/** The first sentence of a description, or its first line. A dot in `e.g.` or in `v1.2` ends no sentence. */
export function firstSentence(description: string): string {
  const text = description.trim();
  const [sentence = ''] = /^[^\n]*?(?:(?<!\b(?:e\.g|i\.e|etc|vs))[.!?](?=\s|$)|。|$)/mu.exec(text) ?? [];
  return sentence.slice(0, LONGEST_SENTENCE);
}

/** `read_file(path: string, head?: number)`: what a tool takes, in one line; the required arguments come first. */
export function signature({ name, inputSchema }: JsonObject): string {
  const properties =
    isObject(inputSchema) && isObject(inputSchema.properties) ? Object.entries(inputSchema.properties) : [];
  const required = isObject(inputSchema) && Array.isArray(inputSchema.required) ? inputSchema.required : [];
  const isRequired = ([argument]: readonly [string, unknown]) => required.includes(argument);
  const inOrder = [
    ...properties.filter(isRequired),
    ...properties.filter((property) => !isRequired(property)),
  ].map(
    (property) =>
      `${property[0]}${isRequired(property) ? '' : '?'}${withColon(typeOf(property[1], inputSchema))}`,
  );
  const shown = inOrder.slice(0, MOST_ARGUMENTS);
  if (inOrder.length > shown.length) shown.push('…');
  return `${String(name)}(${shown.join(', ')})`;
}

const withColon = (type: string | undefined) => (type === undefined ? '' : `: ${type}`);

/** In the words of TypeScript; undefined where the schema says none of this. */
function typeOf(property: unknown, schema: unknown): string | undefined {
  if (!isObject(property)) return undefined;
  const { type, enum: choices, items, anyOf, oneOf, $ref: ref } = property;
  if (typeof ref === 'string') return typeOf(definitionOf(schema, ref), undefined);
  if (Array.isArray(choices)) {
    const shown = choices.slice(0, MOST_CHOICES).map((choice) => JSON.stringify(choice));
    return [...shown, ...(choices.length > shown.length ? ['…'] : [])].join(' | ');
  }
  if (type === 'array') {
    const each = typeOf(items, schema) ?? 'any';
    return each.includes(' ') ? `(${each})[]` : `${each}[]`;
  }
  const types = Array.isArray(type) ? type : [type];
  const alternatives = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  const names =
    type === undefined && alternatives !== undefined
      ? alternatives.map((one) => typeOf(one, schema))
      : types.map((one) => (typeof one === 'string' ? one : undefined));
  return names.includes(undefined) ? undefined : [...new Set(names)].join(' | ');
}

function definitionOf(schema: unknown, ref: string): unknown {
  const [, place = '', name = ''] = /^#\/(\$defs|definitions)\/([^/~%]+)$/.exec(ref) ?? [];
  const all = isObject(schema) && Object.hasOwn(schema, place) ? schema[place] : undefined;
  return isObject(all) && Object.hasOwn(all, name) ? all[name] : undefined;
}
