import { InsufficientScopeError, SdkError, SdkHttpError } from '@modelcontextprotocol/client';
import { isObject, type JsonObject } from '../../shared/json.js';
import { failureIn, type TransportFailure } from '../failures/transport-failure.js';
import { refusalReason } from './library-messages.js';

/** The failure behind an error of the SDK's transport. `hasSession`: the server gave us one, and may have dropped it. */
export function httpFailure(error: unknown, hasSession: boolean): TransportFailure {
  const known = failureIn(error);
  if (known !== undefined) return known;
  if (InsufficientScopeError.isInstance(error)) return { kind: 'refused', status: 403, text: error.message };
  if (SdkHttpError.isInstance(error)) {
    const status = error.status ?? 0;
    if (hasSession && isForgotten(error)) return { kind: 'forgotten', status };
    const isRedirect = status >= 300 && status < 400;
    return {
      kind: 'refused',
      status,
      text: isRedirect ? refusalReason(error.message) : messageIn(textOf(error)),
    };
  }
  if (SdkError.isInstance(error)) return { kind: 'nonsense', why: error.message };
  return { kind: 'nonsense', why: 'something that is no JSON-RPC message' };
}

/** A refusal may have the reply to its request in its body, as a JSON-RPC error. */
export function replyIn(error: unknown, id: number, hasSession: boolean): JsonObject | undefined {
  if (!SdkHttpError.isInstance(error) || (hasSession && isForgotten(error))) return undefined;
  const reply = jsonIn(textOf(error));
  return isObject(reply) && reply.id === id && isObject(reply.error) ? reply : undefined;
}

/** For the log: without the server's text, which may be long. */
export function briefly(failure: TransportFailure): string {
  return failure.kind === 'refused' ? `HTTP ${failure.status}` : failure.kind;
}

/** The specification says 404; server-everything says 400. */
function isForgotten(error: SdkHttpError): boolean {
  return error.status === 404 || (error.status === 400 && /session/i.test(textOf(error)));
}

function textOf(error: SdkHttpError): string {
  const text = isObject(error.data) ? error.data.text : undefined;
  return typeof text === 'string' ? text : '';
}

/** The message of a JSON-RPC error, where the body is one. */
function messageIn(text: string): string {
  const body = jsonIn(text);
  const error = isObject(body) && isObject(body.error) ? body.error : undefined;
  return typeof error?.message === 'string' ? error.message : text;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
