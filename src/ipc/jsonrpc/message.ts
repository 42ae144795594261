import { isUtf8 } from 'node:buffer';
import { isObject } from '../../shared/json.js';
import { CODE } from '../../shared/mcp/rpc-codes.js';
import { elementSources, isDeeperThan, memberSource } from './json-source.js';
import type { ErrorObject } from './rpc-error.js';

/** An id as its JSON text (`1`, `"1"`, `null`): the reply has it exactly as it came, and 1 and "1" are two ids. */
export type IdText = string;

/** One message of JSON-RPC 2.0. */
export type Incoming =
  | { kind: 'request'; id: IdText; method: string; params: unknown }
  | { kind: 'notification'; method: string; params: unknown }
  /** `wantsReply`: a request that MCP's notification cancels gets no reply. */
  | { kind: 'cancel'; target: IdText; wantsReply: boolean }
  | { kind: 'reply'; id: IdText; result: unknown }
  | { kind: 'failure'; id: IdText; error: ErrorObject }
  | { kind: 'invalid'; id: IdText; error: ErrorObject };

/** More than any sane message has, and less than JSON.stringify can write (it fails near 5,000). */
export const MAX_DEPTH = 1000;
/** A line of 8 MiB can hold four million messages; the answers would take 400 MiB. */
export const MAX_BATCH = 10_000;
export const NO_ID: IdText = 'null';
/** The notifications that cancel a request, and the param with its id. */
const CANCELLED_ID: Readonly<Record<string, string>> = {
  '$/cancel': 'id',
  'notifications/cancelled': 'requestId',
};

/** Reads one line; a batch becomes an array. */
export function readLine(bytes: Buffer, maxDepth = MAX_DEPTH): Incoming | Incoming[] {
  const text = bytes.toString('utf8');
  // bytes that are not UTF-8 became U+FFFD; to search for it is faster than `isUtf8`
  if (text.includes('\ufffd') && !isUtf8(bytes)) return invalid(NO_ID, 'not UTF-8', CODE.parse);
  if (isDeeperThan(maxDepth, bytes)) return invalid(NO_ID, `nested deeper than ${maxDepth} levels`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalid(NO_ID, 'not JSON; one message per line is expected', CODE.parse);
  }
  if (!Array.isArray(value)) return classify(value, () => text);
  if (value.length === 0) return invalid(NO_ID, 'an empty batch');
  if (value.length > MAX_BATCH) return invalid(NO_ID, `a batch of more than ${MAX_BATCH} messages`);
  let sources: string[] | undefined;
  return value.map((element: unknown, index) =>
    classify(element, () => (sources ??= elementSources(text))[index] ?? ''),
  );
}

function classify(value: unknown, source: () => string): Incoming {
  if (!isObject(value)) return invalid(NO_ID, 'a message must be an object');
  const hasId = Object.hasOwn(value, 'id');
  const id = hasId ? idText(value.id, () => memberSource(source(), 'id')) : NO_ID;
  if (id === undefined) return invalid(NO_ID, "'id' must be a string, a number or null");
  if (value.jsonrpc !== '2.0') return invalid(id, '\'jsonrpc\' must be "2.0"');
  const { method, params, result, error } = value;
  if (method === undefined) return classifyReply(id, value);
  if (typeof method !== 'string') return invalid(id, "'method' must be a string");
  if (result !== undefined || error !== undefined) {
    return invalid(id, "a message has either 'method' or 'result' or 'error'");
  }
  if (params !== undefined && typeof params !== 'object') {
    return invalid(id, "'params' must be an object or an array");
  }
  if (hasId) return { kind: 'request', id, method, params };
  const name = Object.hasOwn(CANCELLED_ID, method) ? CANCELLED_ID[method] : undefined;
  if (name === undefined) return { kind: 'notification', method, params };
  const target = isObject(params)
    ? idText(params[name], () => memberSource(memberSource(source(), 'params') ?? '', name))
    : undefined;
  if (target === undefined) return { kind: 'notification', method, params };
  return { kind: 'cancel', target, wantsReply: method === '$/cancel' };
}

function classifyReply(id: IdText, value: Record<string, unknown>): Incoming {
  const { result, error } = value;
  if (result !== undefined && error === undefined) return { kind: 'reply', id, result };
  if (isObject(error) && result === undefined) {
    const { code, message, data } = error;
    if (typeof code === 'number' && typeof message === 'string') {
      return { kind: 'failure', id, error: { code, message, data } };
    }
  }
  return invalid(id, "'method' is missing, and it is no reply");
}

/** Undefined for a value that cannot be an id. */
function idText(id: unknown, source: () => string | undefined): IdText | undefined {
  if (typeof id === 'number') return Number.isSafeInteger(id) ? String(id) : (source() ?? String(id));
  return typeof id === 'string' || id === null ? JSON.stringify(id) : undefined;
}

function invalid(id: IdText, why: string, code: number = CODE.invalidRequest): Incoming {
  const what = code === CODE.parse ? 'Parse error' : 'Invalid request';
  return { kind: 'invalid', id, error: { code, message: `${what}: ${why}` } };
}
