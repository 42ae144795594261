import { AuthRequiredError, type MCPError, ServerUnavailableError } from '../link/errors.js';
import type { KeeperContext } from '../machines/keeper-context.js';

/** A keeper's state, as it is shown. */
export type KeeperDetail = 'idle' | 'running' | 'waiting' | 'quarantined' | 'needs_auth' | 'stopped';

export interface Waited {
  name: string;
  detail: KeeperDetail;
  context: Pick<KeeperContext, 'nextRetryAt' | 'quarantineReason' | 'lastError' | 'connectedAt'>;
  now: number;
  /** What calls are told while it is stopped. */
  farewell: MCPError;
}

/** Who may wait for a session, by the state of the keeper: undefined, or why not. */
export function refusalOf({ name, detail, context, now, farewell }: Waited): MCPError | undefined {
  const { nextRetryAt, quarantineReason, lastError, connectedAt } = context;
  const why = lastError?.message;
  switch (detail) {
    case 'idle':
    case 'running':
      return undefined;
    case 'stopped':
      return farewell;
    case 'waiting': {
      // It crashed and is coming back: the next try is near. One that failed to start gives no such hope.
      if (connectedAt !== undefined) return undefined;
      const inMs = Math.max(0, (nextRetryAt ?? 0) - now);
      const message = `${name}: could not be started; the next try is in ${(inMs / 1000).toFixed(1)} s`;
      return new ServerUnavailableError(message, { retryable: true, why, fix: `see "toolherd why ${name}"` });
    }
    case 'needs_auth': {
      const fix = lastError?.fix ?? `toolherd auth ${name}`;
      return new AuthRequiredError(`${name}: needs an authorisation`, { why, fix });
    }
    default: {
      const fix = `mend the cause, then: toolherd reset ${name}`;
      return new ServerUnavailableError(`${name}: is quarantined (${quarantineReason})`, { why, fix });
    }
  }
}
