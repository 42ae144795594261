import { isObject } from '../../../shared/json.js';
import { didYouMean, nearMiss } from '../../../shared/text/near-miss.js';
import { shellWord } from '../../../shared/text/shell-word.js';
import { UsageError } from '../../core/command.js';
import { singleLine } from '../../ui/text.js';
import { choicesOf, isOfType, propertiesOf, typesOf } from './schema-types.js';

/**
 * Checks the arguments before the call is sent. One UsageError names everything that is missing or wrong, and what the
 * tool takes. Only the simple rules of a schema are checked. Answers with warnings.
 */
export function checkArguments(tool: string, schema: unknown, given: Record<string, unknown>): string[] {
  if (!isObject(schema)) return [];
  const properties = propertiesOf(schema);
  const names = Object.keys(properties);
  const isOpen = names.length === 0 || takesOthers(schema);
  const unknown = isOpen ? [] : Object.keys(given).filter((name) => !names.includes(name));
  const strangers = unknown.map((name) => {
    const near = didYouMean(
      name,
      names.filter((known) => !Object.hasOwn(given, known)),
    );
    return `${tool} has no argument '${name}'${near === '' ? '' : `; ${near}`}`;
  });
  const absent = missing(schema, given);
  // an unknown name that is near a missing one was meant for it: one message is enough
  const isMeant = (name: string) => unknown.some((stranger) => nearMiss(stranger, [name]) === name);
  const faults = Object.entries(given).flatMap(([name, value]) =>
    Object.hasOwn(properties, name) ? (wrong(name, value, properties[name]) ?? []) : [],
  );
  const isRefused = strangers.length > 0 && schema.additionalProperties === false;
  if (absent.length + faults.length === 0 && !isRefused) return strangers.map(singleLine);
  const lacks = absent.filter((name) => !isMeant(name)).map((name) => `'${name}' is missing`);
  const message = [...strangers, ...lacks, ...faults].join('; ');
  throw new UsageError(singleLine(message), singleLine(`${tool} takes ${describeArguments(schema)}`));
}

function missing(schema: Record<string, unknown>, given: Record<string, unknown>): string[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const properties = propertiesOf(schema);
  // some generators also list arguments with a default as required
  const hasDefault = (name: string) =>
    Object.hasOwn(properties, name) && properties[name]?.default !== undefined;
  return required.filter(
    (name) => typeof name === 'string' && !Object.hasOwn(given, name) && !hasDefault(name),
  );
}

/** The schema allows other names than those in `properties`; whether they match its patterns the server decides. */
function takesOthers({ additionalProperties, patternProperties }: Record<string, unknown>): boolean {
  return additionalProperties === true || isObject(additionalProperties) || isObject(patternProperties);
}

function wrong(name: string, value: unknown, property: unknown): string | undefined {
  const choices = choicesOf(property);
  if (choices?.every((one) => typeof one !== 'object' || one === null)) {
    if (choices.includes(value)) return undefined;
    const near = didYouMean(String(value), choices.map(String));
    return `'${name}' must be ${choices.map(show).join(' or ')}${near === '' ? '' : `; ${near}`}`;
  }
  const types = typesOf(property);
  if (types === undefined || types.some((type) => isOfType(value, type))) return undefined;
  return `'${name}' must be ${types.map((type) => WORDS[type]).join(' or ')}, not ${show(value)}${hint(name, value, types)}`;
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  null: 'null',
  object: 'an object',
  array: 'a list',
};

function hint(name: string, value: unknown, types: readonly string[]): string {
  if (typeof value !== 'string' || !types.some((type) => type === 'array' || type === 'object')) return '';
  return ` (write ${name}:='${types.includes('array') ? '["…"]' : '{"…": "…"}'}')`;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

/** `a=NUMBER b=NUMBER [loud=true|false]`; a value is written as a shell takes it. */
export function describeArguments(schema: unknown): string {
  const required = isObject(schema) && Array.isArray(schema.required) ? schema.required : [];
  const each = Object.entries(propertiesOf(schema)).map(([name, property]) => {
    const choices = choicesOf(property)
      ?.map((choice) => shellWord(String(choice)))
      .join('|');
    const types = typesOf(property)?.filter((type) => type !== 'null') ?? ['string'];
    const isJson = types.some((type) => type === 'array' || type === 'object');
    const what = choices ?? (isJson ? 'JSON' : types.map((type) => PLACES[type]).join('|'));
    const word = `${name}${isJson && choices === undefined ? ':=' : '='}${what}`;
    return required.includes(name) ? word : `[${word}]`;
  });
  return each.length === 0 ? 'no arguments' : each.join(' ');
}

const PLACES: Readonly<Record<string, string>> = {
  string: 'TEXT',
  number: 'NUMBER',
  integer: 'NUMBER',
  boolean: 'true|false',
};
