import { UsageError } from '../../core/command.js';
import { choicesOf, propertiesOf, typesOf } from './schema-types.js';

/** Arguments of a tool from the command line: `k=v` is text, or of the type in the tool's schema; `k:=json` is JSON. */
export function parseArguments(
  words: readonly string[],
  whole: string | undefined,
  schema: unknown,
): Record<string, unknown> {
  const parsed: Record<string, unknown> = whole === undefined ? {} : parseWhole(whole);
  const properties = propertiesOf(schema);
  for (const word of words) {
    const match = /^(?!:=)([^=]+?)(:?=)(.*)$/s.exec(word);
    if (match === null)
      throw new UsageError(`'${word}' is not an argument`, 'write name=value, or name:=JSON');
    const [, name = '', sign, value = ''] = match;
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const meant = sign === ':=' ? parseJson(name, value) : coerce(name, value, property);
    // a plain assignment to __proto__ would change the prototype
    Object.defineProperty(parsed, name, {
      value: meant,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return parsed;
}

function parseWhole(text: string): Record<string, unknown> {
  const value = parseJson('--args', text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new UsageError('--args must be a JSON object', 'for example --args \'{"text": "hi"}\'');
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const fix = name === '--args' ? 'give one JSON object' : `for a plain text write ${name}=…`;
    throw new UsageError(`the value of ${name} is not valid JSON`, fix);
  }
}

/** `3` is a number if the tool takes numbers only, and text if it takes text. */
function coerce(name: string, value: string, property: unknown): unknown {
  const choice = choicesOf(property)?.find((one) => String(one) === value);
  if (choice !== undefined) return choice;
  const types = typesOf(property) ?? ['string'];
  const may = (...some: string[]) => some.some((type) => types.includes(type));
  if (may('string')) return value;
  if (may('number', 'integer') && value.trim() !== '' && Number.isFinite(Number(value))) return Number(value);
  if (may('boolean') && (value === 'true' || value === 'false')) return value === 'true';
  if (may('null') && value === 'null') return null;
  if (may('object', 'array') && /^[[{]/.test(value)) return parseJson(name, value);
  return value;
}
