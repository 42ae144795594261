import { isUtf8 } from 'node:buffer';
import type { RpcErrorObject } from '../../shared/call-errors.js';
import { EDGE_BYTES } from '../../shared/framing/framer.js';
import { isObject, type JsonObject } from '../../shared/json.js';
import { mayRepeatId, replyIds, topLevelIds } from './reply-source.js';

export type Id = number | string;

/**
 * One line from a server, classified. `broken`: no valid message; its `ids` are those of the replies that it may have
 * been.
 */
export type Message =
  /** `line`: the text of the line, where the message is the whole line. */
  | { kind: 'result'; id: Id; result: JsonObject; raw: JsonObject; line?: string | undefined }
  | { kind: 'error'; id: Id; error: RpcErrorObject; raw: JsonObject }
  | { kind: 'request'; id: Id; method: string; raw: JsonObject }
  | { kind: 'notification'; method: string; params: JsonObject | undefined; raw: JsonObject }
  | { kind: 'batch'; messages: Message[] }
  | Broken;

export interface Broken {
  kind: 'broken';
  ids: readonly Id[];
  why: string;
}

const BYTE_ORDER_MARK = 0xef;

export function readMessage(line: Buffer): Message {
  const bytes = line[0] === BYTE_ORDER_MARK && line[1] === 0xbb && line[2] === 0xbf ? line.subarray(3) : line;
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const ids = replyIds(bytes.subarray(0, EDGE_BYTES), bytes.subarray(-EDGE_BYTES));
    return broken('not JSON', ids);
  }
  if (Array.isArray(value)) return classifyMessage(value);
  // invalid UTF-8 was decoded to U+FFFD; searching for it is faster than checking every line
  if (text.includes('\ufffd') && !isUtf8(bytes)) return broken('not valid UTF-8', idsOf(value));
  if (mayRepeatId(text)) {
    const ids = topLevelIds(bytes);
    if (ids.length > 1) return broken('more than one id', ids.filter(isId));
  }
  const message = classify(value);
  if (message.kind === 'result') message.line = text;
  return message;
}

/** Classifies a message that is already parsed. */
export function classifyMessage(value: unknown): Message {
  // 2025-03-26 allowed batches, so an old server may send one
  if (Array.isArray(value)) return { kind: 'batch', messages: value.map((part) => classify(part)) };
  return classify(value);
}

function classify(value: unknown): Message {
  if (!isObject(value)) return broken('not a JSON-RPC message');
  const { id, method } = value;
  const answers = 'result' in value || 'error' in value;
  if (value.jsonrpc !== '2.0') return broken('not a JSON-RPC 2.0 message', answers ? idsOf(value) : []);
  if (method !== undefined) return classifyMethod(value, method, answers);
  if (!isId(id)) return broken(answers ? 'a reply without a usable id' : 'not a JSON-RPC message');
  if ('result' in value && 'error' in value) return broken('both result and error', [id]);
  if ('error' in value) {
    const error = rpcError(value.error);
    return error === undefined
      ? broken('an error of the wrong shape', [id])
      : { kind: 'error', id, error, raw: value };
  }
  if (!isObject(value.result)) return broken('neither a result object nor an error', [id]);
  return { kind: 'result', id, result: value.result, raw: value, line: undefined };
}

function classifyMethod(value: JsonObject, method: unknown, answers: boolean): Message {
  if (answers) return broken('both a method and a result', idsOf(value));
  if (typeof method !== 'string') return broken('a method that is no string');
  const { id, params } = value;
  if (params !== undefined && !isObject(params)) return broken(`${method} with params that are no object`);
  if (!('id' in value)) return { kind: 'notification', method, params, raw: value };
  return isId(id) ? { kind: 'request', id, method, raw: value } : broken(`${method} without a usable id`);
}

function rpcError(value: unknown): RpcErrorObject | undefined {
  if (!isObject(value)) return undefined;
  const { code, message, data } = value;
  if (typeof code !== 'number' || !Number.isInteger(code) || typeof message !== 'string') return undefined;
  return 'data' in value ? { code, message, data } : { code, message };
}

function broken(why: string, ids: readonly Id[] = []): Broken {
  return { kind: 'broken', ids, why };
}

function idsOf(value: unknown): Id[] {
  return isObject(value) && isId(value.id) ? [value.id] : [];
}

function isId(value: unknown): value is Id {
  return typeof value === 'string' || Number.isSafeInteger(value);
}
