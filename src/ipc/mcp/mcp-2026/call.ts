import type { CallContext, McpResult, RequestParams, ResultCut } from '../../../fleet/fleet.js';
import { isObject } from '../../../shared/json.js';
import { wrong } from '../../jsonrpc/params.js';
import { progressTo } from '../../jsonrpc/progress.js';
import { toFailedResult } from '../failures.js';
import { onLogMessages } from '../notifications.js';
import { withoutEnvelope } from './envelope.js';
import type { Mcp2026Request } from './methods.js';
import { SuspendableCall } from './suspendable-call.js';

/** A request for a server, which may ask questions before it answers. */
export async function call(request: Mcp2026Request): Promise<McpResult> {
  try {
    return await follow(request, withoutEnvelope(request.raw), undefined);
  } catch (error) {
    throw request.session.toRpcError(error);
  }
}

/** The call of a tool. A repeated request, which brings answers, means the same tool as the first one. */
export async function callTool(request: Mcp2026Request): Promise<McpResult> {
  const { session, context, raw } = request;
  const target = await session.surface.target(withoutEnvelope(raw));
  if (target.kind === 'answer') return target.answer(context.signal);
  try {
    return await follow(request, target.params, target.cut);
  } catch (error) {
    if (session.hasTypedErrors) throw session.toRpcError(error);
    return toFailedResult(error);
  }
}

async function follow(
  request: Mcp2026Request,
  params: Record<string, unknown>,
  cut: ResultCut | undefined,
): Promise<McpResult> {
  const { session, params: given, context } = request;
  const progress = progressTo(session, given, context);
  let endLog: (() => void) | undefined;
  let isOver = false;
  // before the server gets the call, so that it knows the level
  const listen = (server: string) => {
    if (!isOver) endLog ??= listenToLog(request, server);
  };
  const asked = resumed(request, params) ?? begin(request, params, cut, listen);
  if (asked.server !== undefined) listen(asked.server);
  try {
    return await asked.run({ signal: context.signal, progress });
  } finally {
    isOver = true;
    endLog?.();
  }
}

function begin(
  { method, session, envelope, params: given }: Mcp2026Request,
  params: Record<string, unknown>,
  cut: ResultCut | undefined,
  found: (server: string) => void,
) {
  const { suspended, fleet, caller, turn, separator, server } = session;
  const foundBy = (context: CallContext) => (name: string) => {
    context.onServer?.(name);
    found(name);
  };
  const begun = new SuspendableCall({
    ...{ method, params, suspended, capabilities: envelope.capabilities },
    wantsProgress: given.progressToken() !== undefined,
    elsewhere: () => session.attended,
    begin: (context) =>
      fleet.request(
        { server, method: method as RequestParams['method'], params },
        { caller, turn, separator, cut, ...context, onServer: foundBy(context) },
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
function listenToLog({ session, envelope }: Mcp2026Request, of: string): () => void {
  const { logLevel: level } = envelope;
  if (level === undefined) return () => undefined;
  return onLogMessages({
    fleet: session.fleet,
    isShown: (server) => server === of,
    isAlone: session.isAlone,
    level,
    notify: (message) => session.notify('notifications/message', message),
  });
}
