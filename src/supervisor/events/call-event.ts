import type { CallEvent, Caller } from '../../fleet/fleet.js';
import type { CallRequest } from '../../link/calls/call.js';
import { type MCPError, MCPProtocolError, type RpcErrorObject } from '../../shared/call-errors.js';
import type { Outcome } from '../../shared/call-sink.js';
import { shapeOf } from './argument-shape.js';
import type { CleanNames } from './clean-names.js';

/** A request as the herd was asked for it. */
export interface HerdRequest extends CallRequest {
  /** Of `fleet/call`. */
  requestId?: string | undefined;
  /** The name by which the caller called a tool, where its connection has a profile. */
  calledAs?: string | undefined;
}

/** A request that has its outcome, also one that was refused before a server got it. */
export interface EndedCall {
  request: HerdRequest;
  outcome: Outcome;
  elapsedMs: number;
  incarnation: number | null;
}

/** The same without the result, which may be large and private. */
export interface CallFacts extends Pick<EndedCall, 'request' | 'elapsedMs' | 'incarnation'> {
  error: string | null;
  code: number | null;
  sent: boolean;
  bytes: number | null;
}

interface RecordContext {
  from: Caller;
  /** ISO 8601. */
  at: string;
  names: CleanNames;
}

/** What is recorded of a call: neither arguments nor result. */
export function callEvent(
  server: string,
  { request, error, code, sent, bytes, incarnation, elapsedMs }: CallFacts,
  { from, at, names }: RecordContext,
): CallEvent {
  const { method, params, requestId, caller, calledAs } = request;
  const isTool = method === 'tools/call';
  const hasArguments = params?.arguments !== undefined && (isTool || method === 'prompts/get');
  const { client } = from;
  return {
    topic: 'call',
    server: names.clean(server) ?? '',
    method: names.clean(method) ?? '',
    tool: isTool && typeof params?.name === 'string' ? names.clean(params.name) : null,
    ...(calledAs === undefined ? {} : { called_as: names.clean(calledAs) }),
    arguments: hasArguments ? shapeOf(params.arguments, names) : null,
    caller: names.clean(caller),
    daemon_pid: process.pid,
    via: from.via,
    client: client && { name: names.clean(client.name) ?? '', version: names.clean(client.version) ?? '' },
    agent: names.clean(from.agent),
    ...(from.profile == null ? {} : { profile: names.clean(from.profile) }),
    request_id: names.id(requestId),
    incarnation,
    sent,
    duration_ms: Math.max(0, Math.round(elapsedMs * 100) / 100),
    ok: error === null,
    error: names.clean(error),
    code,
    bytes,
    at,
  };
}

export function factsOf({ request, outcome, elapsedMs, incarnation }: EndedCall): CallFacts {
  const error = errorOf(request, outcome);
  const sent = outcome.ok || outcome.error.sent;
  const code = (outcome.ok ? undefined : serverError(outcome.error)?.code) ?? null;
  const bytes = outcome.ok ? (outcome.bytes ?? null) : null;
  return { request, error, code, sent, bytes, elapsedMs, incarnation };
}

/** The JSON-RPC error with which the server answered; undefined where it answered with none. */
export function serverError(error: MCPError): RpcErrorObject | undefined {
  return error instanceof MCPProtocolError && error.sent ? error.rpc : undefined;
}

/** The type of the error that a request ended with; null where it succeeded. */
export function errorOf({ method }: HerdRequest, outcome: Outcome): string | null {
  if (!outcome.ok) return outcome.error.type;
  if (method !== 'tools/call') return null;
  // of a long result that was passed on unread only this is known
  return (outcome.isError ?? outcome.result.isError === true) ? 'MCPToolError' : null;
}
