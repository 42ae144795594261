import type { Ending } from '../../machines/ending.js';
import {
  AuthRequiredError,
  MCPConnectionError,
  type MCPError,
  MCPProtocolError,
  MCPTimeoutError,
  ServerCrashedError,
  ServerUnavailableError,
} from '../../shared/call-errors.js';
import { shellWord } from '../../shared/shell-word.js';

/** What a call is told when its incarnation came to this end. `sent`: the call was with the server. */
export function endingError(name: string, ending: Ending, sent: boolean): MCPError {
  const fate = sent ? 'the call was with the server and may have run' : 'the call was not sent';
  if (ending.kind === 'disconnected') {
    const message = `${name}: was stopped`;
    return new ServerUnavailableError(message, {
      sent,
      retryable: true,
      why: fate,
      fix: `see "toolherd why ${shellWord(name)}"`,
    });
  }
  const why = ending.why === undefined ? fate : `${fate}; ${ending.why}`;
  const details = { sent, retryable: ending.permanent !== true, why, fix: ending.fix };
  if (ending.cause === 'timeout') return new MCPTimeoutError(ending.message, details);
  if (ending.cause === 'spawn') return new ServerUnavailableError(ending.message, details);
  if (ending.cause === 'auth') return new AuthRequiredError(ending.message, details);
  if (ending.cause === 'lost' && !sent) return new MCPConnectionError(ending.message, details);
  if (ending.cause === 'protocol') return new MCPProtocolError(ending.message, details);
  return new ServerCrashedError(ending.message, details);
}
