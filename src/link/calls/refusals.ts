import {
  CancelledError,
  type MCPError,
  MCPProtocolError,
  MCPTimeoutError,
  OverloadedError,
  ResultTooLargeError,
  type RpcErrorObject,
  ServerUnavailableError,
} from '../../shared/call-errors.js';
import { messageOf } from '../../shared/errors.js';
import { isObject } from '../../shared/json.js';
import { CODE, MCP_CODE } from '../../shared/mcp/rpc-codes.js';
import { seconds } from '../../shared/text/seconds.js';
import { shellWord } from '../../shared/text/shell-word.js';
import type { Call } from './call.js';

/** The errors of a session: what happened, why, and the next step. `name` is the server's. */
export function unavailable(name: string, sent = false): MCPError {
  const fix = `see "toolherd why ${shellWord(name)}"`;
  const message = `${name}: takes no more calls, it is stopping`;
  return new ServerUnavailableError(message, { retryable: true, sent, fix });
}

export function overloaded(name: string, waiting: number, reads: boolean): MCPError {
  const why = reads ? 'it is busy with as many as max_in_flight allows' : 'it reads no input';
  const fix = 'try again later, or add replicas';
  return new OverloadedError(`${name}: ${waiting} calls wait for it already`, { retryable: true, why, fix });
}

export function unwritable(name: string, method: string, cause: unknown, sent = false): MCPError {
  const message = `${name}: the params of ${method} cannot be written as JSON`;
  const why = messageOf(cause);
  const fix = 'give it values that JSON has, without circles';
  return new MCPProtocolError(message, { cause, sent, why, fix });
}

export function cancelled(name: string, sent: boolean, reason: string): MCPError {
  const why = sent ? 'the server was told to cancel it, but it may have run' : 'the call was not sent';
  const fix = 'call it again, if it is still wanted';
  return new CancelledError(`${name}: the call was cancelled: ${reason}`, { sent, why, fix });
}

export function timedOut(name: string, call: Call): MCPError {
  const sent = call.wasSent;
  const hard = call.deadline === call.hardDeadline && call.maxTimeoutMs !== call.timeoutMs;
  const message = hard
    ? `${name}: ${call.method} was not done in ${seconds(call.maxTimeoutMs)}, its hard limit`
    : `${name}: no reply to ${call.method} in ${seconds(call.timeoutMs)}`;
  const why = sent
    ? 'the server was told to cancel it, but it may have run'
    : 'it was still waiting for its turn';
  const soft = call.hasOwnTimeout ? 'the timeout of this call' : 'request_timeout';
  const fix = `see "toolherd logs ${shellWord(name)}", or raise ${hard ? 'max_timeout' : soft}`;
  return new MCPTimeoutError(message, { sent, retryable: true, why, fix });
}

export function answered(name: string, call: Call, rpc: RpcErrorObject): MCPError {
  const message = `${name}: ${call.method} was answered with error ${rpc.code}: ${rpc.message}`;
  return new MCPProtocolError(message, {
    sent: true,
    rpc,
    ...(rpc.code === MCP_CODE.missingCapability ? unattended(rpc) : refused(name, rpc)),
  });
}

export function misanswered(name: string, call: Call, why: string): MCPError {
  const message = `${name}: the reply to ${call.method} is unusable: ${why}`;
  const what = 'the server answered with something that is no reply; the call may have run';
  return new MCPProtocolError(message, {
    sent: true,
    why: what,
    fix: `see "toolherd logs ${shellWord(name)}"`,
  });
}

export function tooLarge(name: string, call: Call, bytes: number): MCPError {
  const message = `${name}: the reply to ${call.method} has ${bytes} bytes, more than max_message_bytes allows`;
  return new ResultTooLargeError(message, {
    sent: true,
    why: 'the call has run; only its result was dropped',
    fix: 'ask for less, or raise max_message_bytes of this server',
  });
}

function refused(name: string, { code }: RpcErrorObject) {
  return {
    why: 'the server refused the request; whether it ran anything only the server knows',
    fix:
      code === CODE.invalidParams
        ? `see "toolherd tools ${shellWord(name)} --schema"`
        : `see "toolherd logs ${shellWord(name)}"`,
  };
}

function unattended({ data }: RpcErrorObject) {
  const wanted =
    isObject(data) && isObject(data.requiredCapabilities) ? Object.keys(data.requiredCapabilities) : [];
  return {
    why: `the server wants to ask something (${wanted.join(', ') || 'it does not say what'}), and this caller cannot be asked`,
    fix: 'call it from an agent that can answer',
  };
}
