import type { IncomingHttpHeaders } from 'node:http';
import { isObject, metaOf } from '../../shared/json.js';
import { decodeHeader, MOST_SCHEMA_DEPTH, PARAM_HEADER_KEY } from '../../shared/mcp/mcp-headers.js';
import {
  CLIENT_CAPABILITIES_KEY,
  MCP_2026_VERSION,
  PROTOCOL_VERSION_KEY,
} from '../../shared/mcp/mcp-names.js';
import { CODE, MCP_CODE } from '../../shared/mcp/rpc-codes.js';
import type { Incoming } from '../jsonrpc/message.js';
import type { Refusal } from './refusal.js';

/** The field of the body that the header Mcp-Name repeats. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

type Headers = Pick<IncomingHttpHeaders, string>;
type Requested = Extract<Incoming, { kind: 'request' }>;

/** Whether a message is of 2026-07-28: `_meta` or a header says so. */
export function isMcp2026(incoming: Incoming, headers: Headers): boolean {
  const isHeader2026 = (headerOf(headers, 'mcp-protocol-version') ?? '') >= MCP_2026_VERSION;
  if (!('params' in incoming)) return isHeader2026 && incoming.kind === 'cancel';
  return isHeader2026 || metaOf(incoming.params)?.[PROTOCOL_VERSION_KEY] !== undefined;
}

/**
 * Checks what 2026-07-28 asks of a POST. `_meta` has the version, and headers repeat the values by which a proxy may
 * route. A request whose headers and body differ is refused: a proxy may have believed the headers. Undefined where both
 * are right. The herd checks the rest.
 */
export function headerRefusal({ id, method, params }: Requested, headers: Headers): Refusal | undefined {
  const meta = metaOf(params) ?? {};
  const missing = [PROTOCOL_VERSION_KEY, CLIENT_CAPABILITIES_KEY].filter((key) => meta[key] === undefined);
  if (missing.length > 0) {
    const message = `Invalid params: _meta lacks ${missing.join(' and ')}`;
    const why = `every request of ${MCP_2026_VERSION} says this of itself`;
    return { status: 400, code: CODE.invalidParams, message, why, id };
  }
  const version = headerOf(headers, 'mcp-protocol-version');
  const disagreement =
    disagree(
      'MCP-Protocol-Version',
      version,
      `_meta["${PROTOCOL_VERSION_KEY}"]`,
      meta[PROTOCOL_VERSION_KEY],
    ) ??
    disagree('Mcp-Method', headerOf(headers, 'mcp-method'), 'method', method) ??
    nameDisagrees(method, params, headers);
  if (disagreement === undefined) return undefined;
  return { ...headerMismatch(disagreement), id };
}

export function headerMismatch(disagreement: string): Refusal {
  return { status: 400, code: MCP_CODE.headerMismatch, message: `Header mismatch: ${disagreement}` };
}

function nameDisagrees(method: string, params: unknown, headers: Headers): string | undefined {
  const field = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined;
  const value = field === undefined ? undefined : (params as Record<string, unknown>)[field];
  if (typeof value !== 'string') return undefined;
  const header = headerOf(headers, 'mcp-name');
  const decoded = header === undefined ? undefined : decodeHeader(header);
  if (header !== undefined && decoded === undefined) return 'Mcp-Name is marked as base64 and is not';
  return disagree('Mcp-Name', decoded, `params.${field}`, value);
}

function disagree(
  header: string,
  value: string | undefined,
  field: string,
  wanted: unknown,
): string | undefined {
  if (value === wanted) return undefined;
  if (value === undefined) return `the header ${header} is missing, and ${field} is in the body`;
  return `the header ${header} and ${field} of the body differ`;
}

function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value.trim() : undefined;
}

/**
 * Since 2026-07-28 a tool may ask clients to repeat some arguments as headers. Tells what is wrong with the headers of a
 * call: each such argument must have its header, with the same value. Undefined where nothing is.
 */
export function paramDisagreement(inputSchema: unknown, args: unknown, headers: Headers): string | undefined {
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
