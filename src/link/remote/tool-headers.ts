import { isObject, type JsonObject } from '../../shared/json.js';
import {
  encodeHeader,
  MOST_SCHEMA_DEPTH,
  PARAM_HEADER_KEY,
  PARAM_HEADER_PREFIX,
} from '../../shared/mcp/mcp-headers.js';

/** One argument that a tool wants repeated as a header: `x-mcp-header: Region` becomes `Mcp-Param-Region`. */
export interface ParamHeader {
  header: string;
  /** Where its value is in the arguments. */
  path: readonly string[];
}

/**
 * Reads from every `tools/list` reply which arguments each tool wants as headers (since 2026-07-28). A tool whose schema
 * asks in a way that the protocol forbids is removed from the list: it must not be called.
 */
export class ToolHeaders {
  readonly #log: (text: string) => void;
  readonly #wanted = new Map<string, readonly ParamHeader[]>();
  /** Ids of `tools/list` requests without a reply. */
  readonly #lists = new Set<number>();

  constructor(log: (text: string) => void) {
    this.#log = log;
  }

  requested(id: number, { method }: JsonObject): void {
    if (method === 'tools/list') this.#lists.add(id);
  }

  /** The request will get no reply. */
  lost(id: number): void {
    this.#lists.delete(id);
  }

  /** The headers of a request. */
  headersOf({ method, params }: JsonObject): Record<string, string> {
    const name = method === 'tools/call' && isObject(params) ? params.name : undefined;
    const wanted = typeof name === 'string' ? this.#wanted.get(name) : undefined;
    return wanted === undefined || !isObject(params) ? {} : headersFor(wanted, params.arguments);
  }

  /** Returns the reply to deliver: the same one, or a list without the forbidden tools. */
  replied<T extends { id: unknown; result: JsonObject }>(reply: T): T {
    if (typeof reply.id !== 'number' || !this.#lists.delete(reply.id)) return reply;
    const { tools } = reply.result;
    if (!Array.isArray(tools)) return reply;
    const kept = tools.filter((tool: unknown) => !isObject(tool) || this.#learn(tool));
    return { ...reply, result: { ...reply.result, tools: kept } };
  }

  #learn({ name, inputSchema }: JsonObject): boolean {
    const wanted = paramHeaders(inputSchema);
    if ('problem' in wanted) {
      this.#log(`tool '${name}' is left out: ${wanted.problem}`);
      return false;
    }
    if (wanted.length > 0) this.#wanted.set(String(name), wanted);
    else this.#wanted.delete(String(name));
    return true;
  }
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES = new Set(['string', 'integer', 'boolean']);
/** Where a schema may hold another one besides `properties`: no single argument belongs to a header in there. */
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
const NAMED_SCHEMAS = ['patternProperties', 'dependentSchemas', '$defs', 'definitions'];

/** The headers that a tool wants, or what is wrong with its schema. */
export function paramHeaders(inputSchema: unknown): readonly ParamHeader[] | { problem: string } {
  const found: ParamHeader[] = [];
  const names = new Set<string>();
  const visit = (schema: unknown, path: readonly string[], isReachable: boolean): string | undefined => {
    if (!isObject(schema)) return undefined;
    if (path.length > MOST_SCHEMA_DEPTH) return `the schema is nested more than ${MOST_SCHEMA_DEPTH} deep`;
    if (PARAM_HEADER_KEY in schema) {
      const problem =
        isReachable && path.length > 0
          ? check(schema)
          : `${PARAM_HEADER_KEY} where no single argument is meant`;
      const header = String(schema[PARAM_HEADER_KEY]);
      if (problem !== undefined) return `${path.join('.') || 'the schema itself'}: ${problem}`;
      if (names.has(header.toLowerCase()))
        return `${path.join('.')}: ${PARAM_HEADER_KEY} '${header}' comes twice`;
      names.add(header.toLowerCase());
      found.push({ header: `${PARAM_HEADER_PREFIX}${header}`, path });
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

/** The headers of one call. An argument that is absent or null gets none. */
export function headersFor(wanted: readonly ParamHeader[], args: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { header, path } of wanted) {
    const text = textOf(
      path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), args),
    );
    if (text !== undefined) headers[header] = encodeHeader(text);
  }
  return headers;
}

function check(schema: JsonObject): string | undefined {
  const header = schema[PARAM_HEADER_KEY];
  if (typeof header !== 'string' || header === '') return `${PARAM_HEADER_KEY} is not a name`;
  if (!TOKEN.test(header)) return `${PARAM_HEADER_KEY} '${header}' cannot be the name of a header`;
  if (typeof schema.type === 'string' && TYPES.has(schema.type)) return undefined;
  return `${PARAM_HEADER_KEY} on something that is no string, integer or boolean`;
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
