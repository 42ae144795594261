import type { IncomingHttpHeaders } from 'node:http';
import { decodeHeader } from '../../shared/mcp-headers.js';
import { CLIENT_CAPABILITIES_KEY, PROTOCOL_VERSION_KEY } from '../../shared/mcp-names.js';
import { CODE } from '../../shared/rpc-codes.js';
import type { Incoming } from '../jsonrpc/message.js';
import type { Refusal } from './refusal.js';

/**
 * What 2026-07-28 asks of a POST: the message says of itself which version it speaks, and headers repeat what a proxy
 * routes by. Where they disagree nobody knows which one the proxy believed, so it is refused.
 */
export const FIRST_2026 = '2026-07-28';
const HEADER_MISMATCH = -32_020;
/** Where the body has what the header Mcp-Name repeats. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

type Headers = Pick<IncomingHttpHeaders, string>;
type Requested = Extract<Incoming, { kind: 'request' }>;

/** Whether a message is of this era: it says so itself, or its header does. The handshake is always of the other. */
export function isMcp2026(incoming: Incoming, headers: Headers): boolean {
  const isHeaderModern = (headerOf(headers, 'mcp-protocol-version') ?? '') >= FIRST_2026;
  if (!('params' in incoming)) return isHeaderModern && incoming.kind === 'cancel';
  return isHeaderModern || metaOf(incoming.params)[PROTOCOL_VERSION_KEY] !== undefined;
}

/** Undefined for a request that is as it should be. What it asks for is the herd's to judge. */
export function refusalOf({ id, method, params }: Requested, headers: Headers): Refusal | undefined {
  const meta = metaOf(params);
  const missing = [PROTOCOL_VERSION_KEY, CLIENT_CAPABILITIES_KEY].filter((key) => meta[key] === undefined);
  if (missing.length > 0) {
    const message = `Invalid params: _meta lacks ${missing.join(' and ')}`;
    const why = `every request of ${FIRST_2026} says this of itself`;
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
  return { status: 400, code: HEADER_MISMATCH, message: `Header mismatch: ${disagreement}` };
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
  place: string,
  wanted: unknown,
): string | undefined {
  if (value === wanted) return undefined;
  if (value === undefined) return `the header ${header} is missing, and ${place} is in the body`;
  return `the header ${header} and ${place} of the body differ`;
}

function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value.trim() : undefined;
}

function metaOf(params: unknown): Record<string, unknown> {
  const meta = (params as { _meta?: unknown } | undefined)?._meta;
  return typeof meta === 'object' && meta !== null ? (meta as Record<string, unknown>) : {};
}
