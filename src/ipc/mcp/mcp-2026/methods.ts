import type { McpResult } from '../../../fleet/fleet.js';
import { MODERN_VERSION } from '../../../shared/mcp-names.js';
import type { RequestContext } from '../../jsonrpc/incoming-request.js';
import { type Params, wrong } from '../../jsonrpc/params.js';
import { CODE, RpcError } from '../../jsonrpc/rpc-error.js';
import { orNone } from '../completion.js';
import { isRecord } from '../is-record.js';
import { MCP_METHODS } from '../methods.js';
import { CAPABILITIES } from '../server-info.js';
import type { McpSession } from '../session.js';
import { call } from './call.js';
import type { Envelope } from './envelope.js';
import { listen } from './listen.js';
import { complete, modernError, withoutExecution } from './results.js';

/** One request of this era: everything that is known of its client is in it. */
export interface ModernRequest {
  method: string;
  session: McpSession;
  envelope: Envelope;
  params: Params;
  context: RequestContext;
  raw: unknown;
}

type ModernMethod = (request: ModernRequest) => Promise<McpResult> | McpResult;

/** 2026-07-28: no handshake, no session, and nothing that only made sense with one (`ping`, `logging/setLevel`, …). */
export const MODERN_METHODS: Readonly<Record<string, ModernMethod>> = {
  'server/discover': () => ({ supportedVersions: [MODERN_VERSION], capabilities: CAPABILITIES }),
  'tools/list': async (request) => withoutExecution(await asBefore(request)),
  'prompts/list': asBefore,
  'resources/list': asBefore,
  'resources/templates/list': asBefore,
  'completion/complete': (request) => orNone(call(unasked(request))),
  'tools/call': call,
  'prompts/get': call,
  'resources/read': call,
  'subscriptions/listen': ({ session, params, context }) => listen(session, params, context),
};

export async function answerModern(request: ModernRequest): Promise<McpResult> {
  const { method, raw, session, envelope } = request;
  const run = Object.hasOwn(MODERN_METHODS, method) ? MODERN_METHODS[method] : undefined;
  if (run === undefined) {
    throw new RpcError(CODE.methodNotFound, `Method not found: there is no ${method} in ${MODERN_VERSION}`);
  }
  session.introduce(envelope.client);
  try {
    const result = await run(request);
    return result.resultType === 'input_required' ? result : complete(method, result);
  } catch (error) {
    throw modernError(error, isRecord(raw) ? raw.uri : undefined);
  }
}

/** Servers ask nothing before they complete. */
function unasked(request: ModernRequest): ModernRequest {
  return { ...request, envelope: { ...request.envelope, capabilities: {} } };
}

async function asBefore({ method, session, params, context, raw }: ModernRequest): Promise<McpResult> {
  const run = MCP_METHODS[method];
  if (run === undefined) throw wrong(method);
  return (await run(session, params, context, raw)) as McpResult;
}
