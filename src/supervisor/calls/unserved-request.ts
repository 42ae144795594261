import type { CallContext } from '../../fleet/fleet.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { Clock } from '../../shared/clock.js';
import type { EndedCall, HerdRequest } from '../events/call-event.js';

/** How far a request came. One that a server took is told of by that server, any other by whoever looks at this. */
export interface UnservedRequest {
  /** As far as it was found out. */
  server: string;
  isTaken: boolean;
}

export interface RecordedContext extends CallContext {
  unserved?: UnservedRequest | undefined;
}

/** Tells of a request that no server took. */
export type Refused = (server: string, call: EndedCall) => void;

/** Runs a request, and tells of it where it fails before it came to a server. */
export async function recordIfUnserved<T>(
  request: HerdRequest & { server: string | undefined },
  { clock, refused }: { clock: Clock; refused: Refused },
  run: (unserved: UnservedRequest) => Promise<T>,
): Promise<T> {
  const begun = clock.now();
  const unserved: UnservedRequest = { server: request.server ?? '', isTaken: false };
  try {
    return await run(unserved);
  } catch (error) {
    if (!unserved.isTaken) refused(unserved.server, unservedEvent(request, error, clock.now() - begun));
    throw error;
  }
}

export function unservedEvent(request: HerdRequest, error: unknown, elapsedMs: number): EndedCall {
  return { request, outcome: { ok: false, error: error as MCPError }, elapsedMs, incarnation: null };
}
