import type { McpResult, RequestParams } from '../../../fleet/fleet.js';
import { isObject } from '../../../shared/json.js';
import { wrong } from '../../jsonrpc/params.js';
import { progressTo } from '../../jsonrpc/progress.js';
import { toFailedResult, toRpcError } from '../failures.js';
import { onLogMessages } from '../notifications.js';
import { withoutEnvelope } from './envelope.js';
import type { Mcp2026Request } from './methods.js';
import { SuspendableCall } from './suspendable-call.js';

/** A request for a server, which may ask questions before it answers. */
export async function call(request: Mcp2026Request): Promise<McpResult> {
  try {
    return await follow(request);
  } catch (error) {
    if (request.method === 'tools/call') return toFailedResult(error);
    throw toRpcError(error);
  }
}

async function follow(request: Mcp2026Request): Promise<McpResult> {
  const { session, params: given, context, raw } = request;
  const progress = progressTo(session, given, context);
  const params = withoutEnvelope(raw);
  const asked = resumed(request, params) ?? begin(request, params);
  const endLog = listenToLog(request, asked);
  try {
    return await asked.run({ signal: context.signal, progress });
  } finally {
    endLog();
  }
}

function begin(
  { method, session, envelope, params: given }: Mcp2026Request,
  params: Record<string, unknown>,
) {
  const { suspended, fleet, caller, turn, separator, server } = session;
  const begun = new SuspendableCall({
    ...{ method, params, suspended, capabilities: envelope.capabilities },
    wantsProgress: given.progressToken() !== undefined,
    elsewhere: () => session.attended,
    begin: (context) =>
      fleet.request(
        { server, method: method as RequestParams['method'], params },
        { caller, turn, separator, ...context },
      ),
  });
  return session.keep(begun);
}

/** The suspended call whose answers this request brings; undefined for a first request. */
function resumed(
  { method, session, params: given }: Mcp2026Request,
  params: Record<string, unknown>,
): SuspendableCall | undefined {
  const token = given.optionalText('requestState');
  if (token === undefined) return undefined;
  const responses = given.optionalRecord('inputResponses') ?? {};
  if (!Object.values(responses).every(isObject)) throw wrong("'inputResponses' must be an object of objects");
  const asked = session.suspended.take(token, method, params);
  asked.answer(responses as Record<string, Record<string, unknown>>);
  return asked;
}

/** Sends the log messages of the server while it works on this call. */
function listenToLog({ session, envelope }: Mcp2026Request, asked: SuspendableCall): () => void {
  const { logLevel } = envelope;
  if (logLevel === undefined) return () => undefined;
  return onLogMessages({
    fleet: session.fleet,
    isShown: (server) => server === asked.server,
    isAlone: session.isAlone,
    level: () => logLevel,
    notify: (message) => session.notify('notifications/message', message),
  });
}
