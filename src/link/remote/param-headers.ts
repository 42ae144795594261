import { isObject, type JsonObject } from '../../shared/json.js';

/**
 * Since 2026-07-28 a tool may ask that some of its arguments are repeated as HTTP headers, so that a proxy can route by
 * them: `x-mcp-header: Region` on a property becomes `Mcp-Param-Region`. A tool that asks for it in a way that the
 * protocol forbids must not be offered at all.
 */
export interface ParamHeader {
  header: string;
  /** Where its value stands in the arguments. */
  path: readonly string[];
}

const KEY = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES = new Set(['string', 'integer', 'boolean']);
/** Where a schema may hold another one, besides `properties`: what is asked for in there is asked for in vain. */
const SCHEMAS = [
  ...[
    'items',
    'prefixItems',
    'contains',
    'additionalProperties',
    'unevaluatedProperties',
    'unevaluatedItems',
  ],
  ...['propertyNames', 'oneOf', 'anyOf', 'allOf', 'not', 'if', 'then', 'else'],
];
/** Deeper than any honest schema; one without end would be looked through until the stack is full. */
const MOST_DEPTH = 64;
const NAMED_SCHEMAS = ['patternProperties', 'dependentSchemas', '$defs', 'definitions'];

/** What a tool asks for, or what is wrong with it. */
export function paramHeaders(inputSchema: unknown): readonly ParamHeader[] | { problem: string } {
  const found: ParamHeader[] = [];
  const names = new Set<string>();
  const visit = (schema: unknown, path: readonly string[], isReachable: boolean): string | undefined => {
    if (!isObject(schema)) return undefined;
    if (path.length > MOST_DEPTH) return `the schema is nested more than ${MOST_DEPTH} deep`;
    if (KEY in schema) {
      const problem =
        isReachable && path.length > 0 ? check(schema) : `${KEY} where no single argument is meant`;
      const header = String(schema[KEY]);
      if (problem !== undefined) return `${path.join('.') || 'the schema itself'}: ${problem}`;
      if (names.has(header.toLowerCase())) return `${path.join('.')}: ${KEY} '${header}' comes twice`;
      names.add(header.toLowerCase());
      found.push({ header: `Mcp-Param-${header}`, path });
    }
    for (const [key, part] of partsOf(schema.properties)) {
      const problem = visit(part, [...path, key], isReachable);
      if (problem !== undefined) return problem;
    }
    for (const [key, part] of elsewhere(schema)) {
      const problem = visit(part, [...path, key], false);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
  const problem = visit(inputSchema, [], true);
  return problem === undefined ? found : { problem };
}

/** The headers of one call. An argument that is absent or null has none. */
export function headersFor(wanted: readonly ParamHeader[], args: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { header, path } of wanted) {
    const text = textOf(
      path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), args),
    );
    if (text !== undefined) headers[header] = encode(text);
  }
  return headers;
}

function check(schema: JsonObject): string | undefined {
  const header = schema[KEY];
  if (typeof header !== 'string' || header === '') return `${KEY} is not a name`;
  if (!TOKEN.test(header)) return `${KEY} '${header}' cannot be the name of a header`;
  if (typeof schema.type === 'string' && TYPES.has(schema.type)) return undefined;
  return `${KEY} on something that is no string, integer or boolean`;
}

function* elsewhere(schema: JsonObject): Iterable<[string, unknown]> {
  for (const key of SCHEMAS) {
    const part = schema[key];
    if (Array.isArray(part)) for (const one of part) yield [key, one];
    else if (part !== undefined) yield [key, part];
  }
  for (const key of NAMED_SCHEMAS) for (const [, part] of partsOf(schema[key])) yield [key, part];
}

function partsOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return Number.isSafeInteger(value) ||
    (typeof value === 'number' && !Number.isInteger(value) && Number.isFinite(value))
    ? String(value)
    : undefined;
}

/** As it is where a header can hold it; else in base64, marked as such. */
function encode(text: string): string {
  const isPlain = /^[\t\x20-\x7e]+$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}
