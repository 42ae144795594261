import { isObject, type JsonObject } from '../../shared/json.js';

/**
 * One request as a line. The caller's own progress token is removed: all callers share the tokens of one server, and two
 * may use the same. Where progress is wanted the token is the call's id. `envelope`: added to `_meta` where the protocol
 * wants it in every request. Throws what JSON.stringify throws.
 */
export function requestLine(
  id: number,
  method: string,
  params: JsonObject | undefined,
  progress: boolean,
  envelope?: JsonObject,
): string {
  const sent = inEnvelope(withToken(params, progress ? id : undefined), envelope);
  const tail = sent === undefined ? '' : `,"params":${JSON.stringify(sent)}`;
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}${tail}}`;
}

export function cancelLine(id: number, reason: string): string {
  const params = { requestId: id, reason };
  return JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
}

function inEnvelope(
  params: JsonObject | undefined,
  envelope: JsonObject | undefined,
): JsonObject | undefined {
  if (envelope === undefined) return params;
  return { ...params, _meta: { ...(isObject(params?._meta) ? params._meta : {}), ...envelope } };
}

function withToken(params: JsonObject | undefined, token: number | undefined): JsonObject | undefined {
  const meta = isObject(params?._meta) ? params._meta : undefined;
  if (token === undefined && (meta === undefined || !('progressToken' in meta))) return params;
  const { progressToken: _, ...others } = meta ?? {};
  const sent = token === undefined ? others : { ...others, progressToken: token };
  return { ...params, _meta: sent };
}
