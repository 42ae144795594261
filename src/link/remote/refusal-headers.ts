import { asksForToken } from '../auth/challenge.js';
import type { TransportFailure } from './transport-failure.js';

/** What the headers of a refusal say about the next try. */
export interface RefusalHeaders {
  /** For how long the server takes no requests. */
  retryAfterMs?: number;
  /** It asks for a token: see `Challenge`. */
  asksForToken?: boolean;
}

/** The answers that say for how long a server takes no requests. */
const PAUSES = new Set([429, 503]);

/** `header`: the value of a header by its name, in lower case. */
export function refusalHeaders(
  status: number,
  header: (name: string) => string | null | undefined,
  now: number,
): RefusalHeaders {
  const retryAfterMs = PAUSES.has(status) ? pauseIn(header('retry-after'), now) : undefined;
  return {
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(asksForToken(header('www-authenticate')) ? { asksForToken: true } : {}),
  };
}

/** The same trouble, with what the headers of its response say. */
export function withHeaders(
  failure: TransportFailure,
  headers: RefusalHeaders | undefined,
): TransportFailure {
  return failure.kind === 'refused' ? { ...failure, ...headers } : failure;
}

/** What Retry-After asks for, in seconds or as a date; undefined where it is not there or makes no sense. */
function pauseIn(value: string | null | undefined, now: number): number | undefined {
  const said = value?.trim();
  if (said === undefined) return undefined;
  const ms = /^\d+$/.test(said) ? Number(said) * 1000 : Date.parse(said) - now;
  return ms >= 0 ? ms : undefined;
}
