import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from '../../shared/json.js';
import { decodeHeader, MOST_SCHEMA_DEPTH, PARAM_HEADER_KEY } from '../../shared/mcp/mcp-headers.js';

/**
 * Since 2026-07-28 a tool may ask clients to repeat some arguments as headers. Tells what is wrong with the headers of a
 * call: each such argument must have its header, with the same value. Undefined where nothing is.
 */
export function paramDisagreement(
  inputSchema: unknown,
  args: unknown,
  headers: IncomingHttpHeaders,
): string | undefined {
  for (const [header, value] of wantedOf(inputSchema, args, 0)) {
    const given = headers[`mcp-param-${header.toLowerCase()}`];
    if (typeof given !== 'string') return `the header Mcp-Param-${header} is missing`;
    const decoded = decodeHeader(given.trim());
    if (decoded === undefined) return `Mcp-Param-${header} is marked as base64 and is not`;
    if (decoded !== String(value)) return `Mcp-Param-${header} and the argument of the body differ`;
  }
  return undefined;
}

function* wantedOf(schema: unknown, value: unknown, depth: number): Iterable<[string, unknown]> {
  if (!isObject(schema) || value === undefined || value === null || depth > MOST_SCHEMA_DEPTH) return;
  const header = schema[PARAM_HEADER_KEY];
  if (typeof header === 'string') yield [header, value];
  if (!isObject(schema.properties) || !isObject(value)) return;
  for (const [name, part] of Object.entries(schema.properties)) {
    if (Object.hasOwn(value, name)) yield* wantedOf(part, value[name], depth + 1);
  }
}

/** False for a list of tools in which none asks for a header: it need not be parsed. */
export function asksForHeaders(chunks: readonly Buffer[]): boolean {
  return (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).includes(PARAM_HEADER_KEY);
}
