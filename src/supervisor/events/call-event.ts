import type { Caller } from '../../fleet/fleet.js';
import type { CallRequest, Outcome } from '../../link/calls/call.js';
import { shapeText } from './argument-shape.js';
import type { CleanNames } from './clean-names.js';

/** A request as the herd was asked for it. */
export interface HerdRequest extends CallRequest {
  /** Of `fleet/call`. */
  requestId?: string | undefined;
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
  sent: boolean;
  bytes: number | null;
}

interface RecordContext {
  /** As `callerText` has it. */
  who: string;
  /** ISO 8601. */
  at: string;
  names: CleanNames;
}

/**
 * The JSON of a `CallEvent`: neither arguments nor result. Built by hand, because it is written for every call and
 * `JSON.stringify` alone takes longer than all of this.
 */
export function callText(
  server: string,
  { request, error, sent, bytes, incarnation, elapsedMs }: CallFacts,
  { who, at, names }: RecordContext,
): string {
  const quoted = (name: string | null | undefined) => names.json(name);
  const { method, params, requestId } = request;
  const isTool = method === 'tools/call';
  const tool = isTool && typeof params?.name === 'string' ? quoted(params.name) : null;
  const hasArguments = params?.arguments !== undefined && (isTool || method === 'prompts/get');
  const shape = hasArguments ? shapeText(params.arguments, names) : null;
  const what = `"server":${quoted(server)},"method":${quoted(method)},"tool":${tool},"arguments":${shape}`;
  const where = `"request_id":${quoted(requestId)},"incarnation":${incarnation},"sent":${sent}`;
  const ended = error === null ? '"ok":true,"error":null' : `"ok":false,"error":${quoted(error)}`;
  const how = `"duration_ms":${hundredths(elapsedMs)},${ended},"bytes":${bytes}`;
  return `{"topic":"call",${what},${who},${where},${how},"at":"${at}"}`;
}

/** Who made a call, in its text. In one piece: it is the same for many calls, and the pieces of a text cost more than its length. */
export function callerText(
  caller: string | undefined,
  { via, client, agent }: Caller,
  names: CleanNames,
): string {
  return [
    '"caller":',
    names.json(caller),
    `,"daemon_pid":${process.pid},"via":"${via}","client":`,
    clientText(client, names),
    ',"agent":',
    names.json(agent),
  ].join('');
}

export function factsOf({ request, outcome, elapsedMs, incarnation }: EndedCall): CallFacts {
  const error = errorOf(request, outcome);
  const sent = outcome.ok || outcome.error.sent === true;
  const bytes = outcome.ok ? (outcome.bytes ?? null) : null;
  return { request, error, sent, bytes, elapsedMs, incarnation };
}

function errorOf({ method }: HerdRequest, outcome: Outcome): string | null {
  // a fault of ours has no type
  if (!outcome.ok) return outcome.error.type ?? 'InternalError';
  if (method !== 'tools/call') return null;
  // of a long result that was passed on unread only this is known
  return (outcome.isError ?? outcome.result.isError === true) ? 'MCPToolError' : null;
}

function clientText(client: Caller['client'], names: CleanNames): string {
  if (client === null) return 'null';
  return `{"name":${names.json(client.name)},"version":${names.json(client.version)}}`;
}

/** As `toFixed(2)` would have it, which takes ten times as long. */
function hundredths(ms: number): string {
  const all = Math.max(0, Math.round(ms * 100));
  const rest = all % 100;
  return `${(all - rest) / 100}.${rest < 10 ? '0' : ''}${rest}`;
}
