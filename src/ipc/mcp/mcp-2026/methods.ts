import type { McpResult } from '../../../fleet/fleet.js';
import { isObject } from '../../../shared/json.js';
import { MCP_2026_VERSION, SERVER_INFO_KEY } from '../../../shared/mcp/mcp-names.js';
import { CODE, MCP_CODE } from '../../../shared/mcp/rpc-codes.js';
import type { RequestContext } from '../../jsonrpc/incoming-request.js';
import { type Params, wrong } from '../../jsonrpc/params.js';
import { RpcError } from '../../jsonrpc/rpc-error.js';
import { MCP_METHODS } from '../methods.js';
import { CAPABILITIES, SERVER_INFO } from '../server-info.js';
import { emptyIfUnsupported, type McpSession } from '../session.js';
import { call, callTool } from './call.js';
import type { Envelope } from './envelope.js';
import { listen } from './listen.js';

/** One request of 2026-07-28, with everything that is known of its client. */
export interface Mcp2026Request {
  method: string;
  session: McpSession;
  envelope: Envelope;
  params: Params;
  context: RequestContext;
  raw: unknown;
}

type Mcp2026Method = (request: Mcp2026Request) => Promise<McpResult> | McpResult;

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

/** 2026-07-28: no handshake, no session, and nothing that only made sense with one (`ping`, `logging/setLevel`, …). */
export const MCP_2026_METHODS: Readonly<Record<string, Mcp2026Method>> = {
  'server/discover': ({ session }) => {
    const instructions = session.surface.instructions();
    return {
      supportedVersions: [MCP_2026_VERSION],
      capabilities: CAPABILITIES,
      ...(instructions !== undefined && { instructions }),
    };
  },
  'tools/list': async (request) => withoutExecution(await asBefore(request)),
  'prompts/list': asBefore,
  'resources/list': asBefore,
  'resources/templates/list': asBefore,
  'completion/complete': (request) => emptyIfUnsupported(call(withoutQuestions(request))),
  'tools/call': callTool,
  'prompts/get': call,
  'resources/read': call,
  'subscriptions/listen': ({ session, params, context }) => listen(session, params, context),
};

export async function answerMcp2026(request: Mcp2026Request): Promise<McpResult> {
  const { method, raw, session, envelope } = request;
  const run = Object.hasOwn(MCP_2026_METHODS, method) ? MCP_2026_METHODS[method] : undefined;
  if (run === undefined) {
    throw new RpcError(CODE.methodNotFound, `Method not found: there is no ${method} in ${MCP_2026_VERSION}`);
  }
  session.introduce(envelope.client);
  try {
    const result = await run(request);
    return result.resultType === 'input_required' ? result : complete(method, result);
  } catch (error) {
    throw mcp2026Error(error, isObject(raw) ? raw.uri : undefined);
  }
}

/** A server may not ask questions for a completion. */
function withoutQuestions(request: Mcp2026Request): Mcp2026Request {
  return { ...request, envelope: { ...request.envelope, capabilities: {} } };
}

async function asBefore({ method, session, params, context, raw }: Mcp2026Request): Promise<McpResult> {
  const run = MCP_METHODS[method];
  if (run === undefined) throw wrong(method);
  return (await run(session, params, context, raw)) as McpResult;
}

/** Adds the fields that 2026-07-28 asks of every result. `_meta` may name the server; else it names toolherd. */
function complete(method: string, result: McpResult): McpResult {
  const meta = isObject(result._meta) ? result._meta : {};
  return {
    ...(CACHEABLE.includes(method) ? UNKNOWN_FRESHNESS : {}),
    ...result,
    resultType: 'complete',
    _meta: { [SERVER_INFO_KEY]: SERVER_INFO, ...meta },
  };
}

/** 2026-07-28 has no `execution`. */
function withoutExecution({ tools, ...rest }: McpResult): McpResult {
  const listed = (tools as Record<string, unknown>[]).map(({ execution: _, ...tool }) => tool);
  return { ...rest, tools: listed };
}

/** 2026-07-28 has no code for a missing resource: it is an invalid param. */
function mcp2026Error(error: unknown, uri: unknown): unknown {
  if (!(error instanceof RpcError) || error.code !== MCP_CODE.resourceNotFound) return error;
  return new RpcError(CODE.invalidParams, error.message, typeof uri === 'string' ? { uri } : error.data);
}
