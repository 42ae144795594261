import { parseRetryAfter } from '../../shared/retry-after.js';
import { asksForToken } from '../auth/challenge.js';
import type { TransportFailure } from '../failures/transport-failure.js';

/** What the headers of a refusal say about the next try. */
export interface RefusalHeaders {
  /** How long the server takes no requests. */
  retryAfterMs?: number;
  /** The server asks for a token: see `Challenge`. */
  asksForToken?: boolean;
}

/** Statuses whose Retry-After says how long the server takes no requests. */
const PAUSES = new Set([429, 503]);

/** `header`: the value of a header by its name, in lower case. */
export function refusalHeaders(
  status: number,
  header: (name: string) => string | null | undefined,
  now: number,
): RefusalHeaders {
  const retryAfterMs = PAUSES.has(status) ? parseRetryAfter(header('retry-after'), now) : undefined;
  return {
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(asksForToken(header('www-authenticate')) ? { asksForToken: true } : {}),
  };
}

/** The failure, with what the headers of its response say. */
export function withHeaders(
  failure: TransportFailure,
  headers: RefusalHeaders | undefined,
): TransportFailure {
  return failure.kind === 'refused' ? { ...failure, ...headers } : failure;
}
