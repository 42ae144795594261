import type { McpResult } from '../../../fleet/fleet.js';
import { isObject } from '../../../shared/json.js';
import { SERVER_INFO_KEY } from '../../../shared/mcp-names.js';
import { CODE } from '../../../shared/rpc-codes.js';
import { RpcError } from '../../jsonrpc/rpc-error.js';
import { SERVER_INFO } from '../server-info.js';

/** Whose results say how long they hold. What a server itself said of that is kept; of the rest nobody knows. */
const CACHEABLE: readonly string[] = [
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
];
const UNKNOWN_FRESHNESS = { ttlMs: 0, cacheScope: 'private' };
/** No such resource, in the words of 2025. */
const NO_RESOURCE = -32002;

/** A result with what this era asks of every one. Who made it may have said who it is; else it is we. */
export function complete(method: string, result: McpResult): McpResult {
  const meta = isObject(result._meta) ? result._meta : {};
  return {
    ...(CACHEABLE.includes(method) ? UNKNOWN_FRESHNESS : {}),
    ...result,
    resultType: 'complete',
    _meta: { [SERVER_INFO_KEY]: SERVER_INFO, ...meta },
  };
}

/** `execution` is gone from this era. */
export function withoutExecution({ tools, ...rest }: McpResult): McpResult {
  const listed = (tools as Record<string, unknown>[]).map(({ execution: _, ...tool }) => tool);
  return { ...rest, tools: listed };
}

/** There is one code less: a resource that nobody has is a wrong param. */
export function mcp2026Error(error: unknown, uri: unknown): unknown {
  if (!(error instanceof RpcError) || error.code !== NO_RESOURCE) return error;
  return new RpcError(CODE.invalidParams, error.message, typeof uri === 'string' ? { uri } : error.data);
}
