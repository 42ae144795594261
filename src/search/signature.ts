import { isObject, type JsonObject } from '../shared/json.js';
import { cutText } from '../shared/text/cut-text.js';

/** More is not shown: a list of found tools has one line a tool. */
const LONGEST_SENTENCE = 300;
const MOST_ARGUMENTS = 12;
const MOST_CHOICES = 5;
/** Of the name of an argument, and of one choice. */
const LONGEST_WORD = 60;
const LONGEST_SIGNATURE = 600;
/** A server may nest a schema deeper than the stack is. */
const MAX_DEPTH = 5;

/** The first sentence of a description, or its first line. A dot in `e.g.` or in `v1.2` ends no sentence. */
export function firstSentence(description: string): string {
  const text = description.trim();
  const [sentence = ''] = /^[^\n]*?(?:(?<!\b(?:e\.g|i\.e|etc|vs))[.!?](?=\s|$)|。|$)/mu.exec(text) ?? [];
  return cutText(sentence, LONGEST_SENTENCE);
}

/** `read_file(path: string, head?: number)`: what a tool takes, in one line; the required arguments come first. */
export function signature({ name, inputSchema }: JsonObject): string {
  const properties =
    isObject(inputSchema) && isObject(inputSchema.properties) ? Object.entries(inputSchema.properties) : [];
  const required = new Set(
    isObject(inputSchema) && Array.isArray(inputSchema.required) ? inputSchema.required : [],
  );
  const isRequired = ([argument]: readonly [string, unknown]) => required.has(argument);
  const inOrder = [
    ...properties.filter(isRequired),
    ...properties.filter((property) => !isRequired(property)),
  ];
  const shown = inOrder
    .slice(0, MOST_ARGUMENTS)
    .map(
      (property) =>
        `${shortened(property[0])}${isRequired(property) ? '' : '?'}${withColon(typeOf(property[1], inputSchema))}`,
    );
  if (inOrder.length > shown.length) shown.push('…');
  const whole = shortened(`${String(name)}(${shown.join(', ')})`, LONGEST_SIGNATURE);
  // a server names its arguments: one must not look like the line of another tool
  return whole.replaceAll(/\s+/g, ' ');
}

function shortened(text: string, longest = LONGEST_WORD): string {
  return text.length > longest ? `${cutText(text, longest)}…` : text;
}

const withColon = (type: string | undefined) => (type === undefined ? '' : `: ${type}`);

/** In the words of TypeScript; undefined where the schema says none of this. */
function typeOf(property: unknown, schema: unknown, depth = 0): string | undefined {
  if (!isObject(property) || depth > MAX_DEPTH) return undefined;
  const { type, enum: choices, items, anyOf, oneOf, $ref: ref } = property;
  if (typeof ref === 'string') return typeOf(definitionOf(schema, ref), undefined, depth + 1);
  if (Array.isArray(choices)) {
    const shown = choices.slice(0, MOST_CHOICES).map(choiceText);
    return [...shown, ...(choices.length > shown.length ? ['…'] : [])].join(' | ');
  }
  if (type === 'array') {
    const each = typeOf(items, schema, depth + 1) ?? 'any';
    return each.includes(' ') ? `(${each})[]` : `${each}[]`;
  }
  const types = Array.isArray(type) ? type : [type];
  const alternatives = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  const names =
    type === undefined && alternatives !== undefined
      ? alternatives.slice(0, MOST_CHOICES).map((one) => typeOf(one, schema, depth + 1))
      : types.slice(0, MOST_CHOICES).map((one) => (typeof one === 'string' ? shortened(one) : undefined));
  return names.includes(undefined) ? undefined : [...new Set(names)].join(' | ');
}

/** A choice is text or a number; another one may be of any depth. */
function choiceText(choice: unknown): string {
  return typeof choice === 'object' && choice !== null ? '{…}' : shortened(JSON.stringify(choice) ?? '');
}

function definitionOf(schema: unknown, ref: string): unknown {
  const [, place = '', name = ''] = /^#\/(\$defs|definitions)\/([^/~%]+)$/.exec(ref) ?? [];
  const all = isObject(schema) && Object.hasOwn(schema, place) ? schema[place] : undefined;
  return isObject(all) && Object.hasOwn(all, name) ? all[name] : undefined;
}
