import { isObject, metaOf } from '../../../shared/json.js';
import { MCP_LEVELS, type McpLevel } from '../../../shared/mcp/log-levels.js';
import {
  CLIENT_CAPABILITIES_KEY,
  CLIENT_INFO_KEY,
  LOG_LEVEL_KEY,
  MCP_2026_VERSION,
  PROTOCOL_VERSION_KEY,
} from '../../../shared/mcp/mcp-names.js';
import { CODE, MCP_CODE } from '../../../shared/mcp/rpc-codes.js';
import { RpcError } from '../../jsonrpc/rpc-error.js';
import type { ClientCapabilities } from '../client-questions.js';

/** What a request of 2026-07-28 says of its client. Each request repeats it: nothing is remembered. */
export interface Envelope {
  capabilities: ClientCapabilities;
  /** The lowest level of log messages that the client wants during the request; undefined: none. */
  logLevel: McpLevel | undefined;
  /** Name and version of the client. */
  client: unknown;
}

const ENVELOPE_KEYS = [PROTOCOL_VERSION_KEY, CLIENT_INFO_KEY, CLIENT_CAPABILITIES_KEY, LOG_LEVEL_KEY];

/** Undefined for a request of an older version: only 2026-07-28 has the version in `_meta`. */
export function readEnvelope(params: unknown): Envelope | undefined {
  const meta = metaOf(params);
  if (meta === undefined || !Object.hasOwn(meta, PROTOCOL_VERSION_KEY)) return undefined;
  const version = meta[PROTOCOL_VERSION_KEY];
  if (typeof version !== 'string') throw wrong(PROTOCOL_VERSION_KEY, 'must be a string');
  if (version !== MCP_2026_VERSION) {
    const data = { supported: [MCP_2026_VERSION], requested: version };
    throw new RpcError(MCP_CODE.unsupportedVersion, `Unsupported protocol version: ${version}`, data);
  }
  const capabilities = meta[CLIENT_CAPABILITIES_KEY];
  if (!isObject(capabilities)) throw wrong(CLIENT_CAPABILITIES_KEY, 'must be an object');
  const info = meta[CLIENT_INFO_KEY];
  if (info !== undefined && !(isObject(info) && typeof info.name === 'string')) {
    throw wrong(CLIENT_INFO_KEY, 'must have a name');
  }
  return { capabilities, logLevel: levelOf(meta[LOG_LEVEL_KEY]), client: info };
}

/** The params for the server: without the fields for us. */
export function withoutEnvelope(params: unknown): Record<string, unknown> {
  if (!isObject(params)) return {};
  const { _meta: meta, inputResponses: _, requestState: __, ...rest } = params;
  if (!isObject(meta)) return rest;
  const kept = Object.entries(meta).filter(([key]) => !ENVELOPE_KEYS.includes(key));
  return kept.length === 0 ? rest : { ...rest, _meta: Object.fromEntries(kept) };
}

function levelOf(level: unknown): McpLevel | undefined {
  if (level === undefined) return undefined;
  const known = MCP_LEVELS.find((one) => one === level);
  if (known === undefined) throw wrong(LOG_LEVEL_KEY, `must be one of: ${MCP_LEVELS.join(', ')}`);
  return known;
}

function wrong(key: string, problem: string): RpcError {
  const message = `Invalid params: '_meta["${key}"]' ${problem}`;
  return new RpcError(CODE.invalidParams, message, { envelope: { key, problem } });
}
