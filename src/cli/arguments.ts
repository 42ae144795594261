import { UsageError } from './verb.js';

/**
 * Arguments of a tool from the command line: `k=v` is a text, or what the tool's schema says it is; `k:=json` is JSON.
 */
export function parseArguments(
  words: readonly string[],
  whole: string | undefined,
  schema: unknown,
): Record<string, unknown> {
  const parsed: Record<string, unknown> = whole === undefined ? {} : parseWhole(whole);
  for (const word of words) {
    const match = /^([^=:]+)(:?=)(.*)$/s.exec(word);
    if (match === null) throw new UsageError(`'${word}' is no argument`, 'write name=value, or name:=JSON');
    const [, name = '', sign, value = ''] = match;
    parsed[name] = sign === ':=' ? parseJson(name, value) : coerce(name, value, schema);
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
    throw new UsageError(`the value of ${name} is not valid JSON`, `for a plain text write ${name}=…`);
  }
}

/** `3` is a number where the tool wants one, and a text where it wants that. */
function coerce(name: string, value: string, schema: unknown): unknown {
  const type = typeOf(schema, name);
  if ((type === 'number' || type === 'integer') && value.trim() !== '' && Number.isFinite(Number(value)))
    return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  if ((type === 'object' || type === 'array') && /^[[{]/.test(value)) return parseJson(name, value);
  return value;
}

function typeOf(schema: unknown, name: string): unknown {
  const properties = (schema as { properties?: Record<string, { type?: unknown }> } | null)?.properties;
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name]?.type : undefined;
}
