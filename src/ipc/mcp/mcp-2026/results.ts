import type { McpResult } from '../../../fleet/fleet.js';
import { isObject } from '../../../shared/json.js';
import { SERVER_INFO_KEY } from '../../../shared/mcp/mcp-names.js';
import { CODE, MCP_CODE } from '../../../shared/mcp/rpc-codes.js';
import { RpcError } from '../../jsonrpc/rpc-error.js';
import { SERVER_INFO } from '../server-info.js';

/** Methods whose results say how long they may be cached. What the server says is kept; else they may not be. */
const CACHEABLE: readonly string[] = [
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
];
const UNKNOWN_FRESHNESS = { ttlMs: 0, cacheScope: 'private' };

/** Adds the fields that 2026-07-28 asks of every result. `_meta` may name the server; else it names toolherd. */
export function complete(method: string, result: McpResult): McpResult {
  const meta = isObject(result._meta) ? result._meta : {};
  return {
    ...(CACHEABLE.includes(method) ? UNKNOWN_FRESHNESS : {}),
    ...result,
    resultType: 'complete',
    _meta: { [SERVER_INFO_KEY]: SERVER_INFO, ...meta },
  };
}

/** 2026-07-28 has no `execution`. */
export function withoutExecution({ tools, ...rest }: McpResult): McpResult {
  const listed = (tools as Record<string, unknown>[]).map(({ execution: _, ...tool }) => tool);
  return { ...rest, tools: listed };
}

/** 2026-07-28 has no code for a missing resource: it is an invalid param. */
export function mcp2026Error(error: unknown, uri: unknown): unknown {
  if (!(error instanceof RpcError) || error.code !== MCP_CODE.resourceNotFound) return error;
  return new RpcError(CODE.invalidParams, error.message, typeof uri === 'string' ? { uri } : error.data);
}
