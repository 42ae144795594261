import type { KeeperContext } from '../../machines/keeper-context.js';
import type { Failed } from '../../machines/restart/ending.js';
import type { KeeperStateName } from '../../machines/state-name.js';
import { AuthRequiredError, type MCPError, ServerUnavailableError } from '../../shared/call-errors.js';
import { shellWord } from '../../shared/text/shell-word.js';
import { unknownTool } from '../errors.js';
import { blockedTool } from '../pins/blocked.js';
import type { ConfiguredServer } from './configured-server.js';

export interface KeeperFacts {
  name: string;
  detail: KeeperStateName;
  /** A call makes the next try at once. */
  isCallable: boolean;
  lastError: Failed | undefined;
  context: Pick<KeeperContext, 'nextRetryAt' | 'callableAt' | 'quarantineReason' | 'connectedAt'>;
  now: number;
  /** The error of calls while it is stopped. */
  stopError: MCPError;
}

/** Whether a call may wait for a session, by the state of the keeper: undefined, or why not. */
export function refusalOf({
  name,
  detail,
  isCallable,
  lastError,
  context,
  now,
  stopError,
}: KeeperFacts): MCPError | undefined {
  const { quarantineReason, connectedAt, callableAt } = context;
  const why = lastError && [lastError.message, lastError.why].filter(Boolean).join('; ');
  switch (detail) {
    case 'idle':
    case 'running':
      return undefined;
    case 'stopped':
      return stopError;
    case 'waiting': {
      // It crashed and is coming back: the next try is near. One that failed to start gives no such hope.
      if (connectedAt !== undefined || isCallable) return undefined;
      const message = `${name}: could not be started; ${nextTry(context, now)}`;
      const fix = lastError?.fix ?? `see "toolherd why ${shellWord(name)}"`;
      const Refusal = lastError?.cause === 'auth' ? AuthRequiredError : ServerUnavailableError;
      return new Refusal(message, { retryable: true, why, fix });
    }
    case 'needs_auth': {
      const fix = lastError?.fix ?? `toolherd auth ${shellWord(name)}`;
      return new AuthRequiredError(`${name}: needs an authorisation`, { why, fix });
    }
    default: {
      if (isCallable) return undefined;
      const message = `${name}: is quarantined (${quarantineReason}); a call tries it again ${until(callableAt, now)}`;
      const fix = `${lastError?.fix ?? `see "toolherd why ${shellWord(name)}"`}; then: toolherd reset ${shellWord(name)}`;
      return new ServerUnavailableError(message, { retryable: true, why, fix });
    }
  }
}

/** Whether the server has such a tool as it was pinned, by what is known now: undefined, or why not. */
export function toolRefusal(
  { spec, catalog }: Pick<ConfiguredServer, 'spec' | 'catalog'>,
  tool: string,
): MCPError | undefined {
  if (catalog.hasTool(tool)) return undefined;
  const block = catalog.blockOf(tool);
  if (block !== undefined) return blockedTool(spec.name, tool, block);
  return unknownTool(spec.name, tool, [...(catalog.keysOf('tools') ?? [])]);
}

function nextTry({ nextRetryAt, callableAt }: KeeperFacts['context'], now: number): string {
  const next = `the next try is ${until(nextRetryAt, now)}`;
  const isSooner = callableAt !== undefined && nextRetryAt !== undefined && callableAt < nextRetryAt;
  return isSooner ? `${next}, or with a call ${until(callableAt, now)}` : next;
}

function until(at: number | undefined, now: number): string {
  return `in ${(Math.max(0, (at ?? now) - now) / 1000).toFixed(1)} s`;
}
