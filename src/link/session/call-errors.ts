import {
  CancelledError,
  type MCPError,
  MCPProtocolError,
  MCPTimeoutError,
  OverloadedError,
  ResultTooLargeError,
  type RpcError,
  ServerUnavailableError,
} from '../errors.js';
import type { Call } from './call.js';

/** The sentences of a session: what happened, why, and the next step. `name` is the server's. */
export function unavailable(name: string): MCPError {
  const fix = `see "toolherd why ${name}"`;
  return new ServerUnavailableError(`${name}: takes no more calls, it is stopping`, { retryable: true, fix });
}

export function overloaded(name: string, waiting: number, reads: boolean): MCPError {
  const why = reads ? 'it is busy with as many as max_in_flight allows' : 'it reads no input';
  const fix = 'try again later, or add replicas';
  return new OverloadedError(`${name}: ${waiting} calls wait for it already`, { retryable: true, why, fix });
}

export function unwritable(name: string, method: string, cause: unknown): MCPError {
  return new MCPProtocolError(`${name}: the params of ${method} cannot be written as JSON`, { cause });
}

export function cancelled(name: string, sent: boolean, reason: string): MCPError {
  return new CancelledError(`${name}: the call was cancelled: ${reason}`, { sent });
}

export function timedOut(name: string, call: Call): MCPError {
  const sent = call.state === 'sent';
  const hard = call.deadline === call.hardDeadline && call.maxTimeoutMs > call.timeoutMs;
  const message = hard
    ? `${name}: ${call.method} was not done in ${call.maxTimeoutMs / 1000} s, its hard limit`
    : `${name}: no reply to ${call.method} in ${call.timeoutMs / 1000} s`;
  const why = sent
    ? 'the server was told to cancel it, but it may have run'
    : 'it was still waiting for its turn';
  return new MCPTimeoutError(message, { sent, retryable: true, why, fix: `see "toolherd logs ${name}"` });
}

export function answered(name: string, call: Call, rpc: RpcError): MCPError {
  const message = `${name}: ${call.method} was answered with error ${rpc.code}: ${rpc.message}`;
  return new MCPProtocolError(message, { sent: true, rpc });
}

export function misanswered(name: string, call: Call, why: string): MCPError {
  const message = `${name}: the reply to ${call.method} is unusable: ${why}`;
  return new MCPProtocolError(message, { sent: true, fix: `see "toolherd logs ${name}"` });
}

export function tooLarge(name: string, call: Call, bytes: number): MCPError {
  const message = `${name}: the reply to ${call.method} has ${bytes} bytes, more than max_message_bytes allows`;
  return new ResultTooLargeError(message, {
    sent: true,
    fix: 'ask for less, or raise max_message_bytes of this server',
  });
}
