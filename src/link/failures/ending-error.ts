import type { Ending } from '../../machines/restart/ending.js';
import {
  AuthRequiredError,
  MCPConnectionError,
  type MCPError,
  MCPProtocolError,
  MCPTimeoutError,
  ServerCrashedError,
  ServerUnavailableError,
} from '../../shared/call-errors.js';
import { shellWord } from '../../shared/text/shell-word.js';

/** The error of a call whose incarnation ended like this. `sent`: the server had got the call. */
export function endingError(name: string, ending: Ending, sent: boolean): MCPError {
  const callState = sent ? 'the call was with the server and may have run' : 'the call was not sent';
  const seeWhy = `see "toolherd why ${shellWord(name)}"`;
  if (ending.kind === 'disconnected') {
    const message = `${name}: was stopped`;
    return new ServerUnavailableError(message, { sent, retryable: true, why: callState, fix: seeWhy });
  }
  const why = ending.why === undefined ? callState : `${callState}; ${ending.why}`;
  const details = { sent, retryable: ending.permanent !== true, why, fix: ending.fix ?? seeWhy };
  if (ending.cause === 'timeout') return new MCPTimeoutError(ending.message, details);
  if (ending.cause === 'spawn') return new ServerUnavailableError(ending.message, details);
  if (ending.cause === 'auth') return new AuthRequiredError(ending.message, details);
  if (ending.cause === 'lost' && !sent) return new MCPConnectionError(ending.message, details);
  if (ending.cause === 'protocol') return new MCPProtocolError(ending.message, details);
  return new ServerCrashedError(ending.message, details);
}
