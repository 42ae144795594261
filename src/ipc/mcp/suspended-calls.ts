import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, systemClock } from '../../shared/clock.js';
import { wrong } from '../jsonrpc/params.js';

/** A call whose server waits for an answer of the client. */
export interface SuspendedCall {
  readonly method: string;
  /** The client repeats them with the answer. */
  readonly params: Record<string, unknown>;
  cancel(reason: string): void;
}

interface Suspension<T> {
  call: T;
  timer: unknown;
}

/** Longer than a person thinks about a question, and the default timeout of a call. */
export const SUSPENDED_MS = 10 * 60_000;
const MOST = 1000;

/**
 * Calls that wait for an answer of their client. In 2026-07-28 the answer comes with a second request, and a token ties
 * it to the first one. The token cannot be guessed, is valid once, and expires; then the call is cancelled.
 */
export class SuspendedCalls<T extends SuspendedCall = SuspendedCall> {
  readonly #clock: Clock;
  readonly #suspensions = new Map<string, Suspension<T>>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#suspensions.size;
  }

  /** The token; undefined where too many calls wait. */
  suspend(call: T): string | undefined {
    if (this.#suspensions.size >= MOST) return undefined;
    const token = randomBytes(24).toString('base64url');
    const timer = this.#clock.setTimeout(() => {
      this.#suspensions.delete(token);
      call.cancel('the client did not answer the question of the server');
    }, SUSPENDED_MS);
    this.#suspensions.set(token, { call, timer });
    return token;
  }

  /** Removes the call that waits for this request. It stays where the request is another one. */
  take(token: string, method: string, params: Record<string, unknown>): T {
    const suspension = this.#suspensions.get(token);
    if (suspension === undefined) {
      throw wrong(
        "'requestState' is unknown: it was used, has expired, or is of another daemon; make the call again",
      );
    }
    const { call, timer } = suspension;
    if (call.method !== method || !isDeepStrictEqual(withoutMeta(call.params), withoutMeta(params))) {
      throw wrong("'requestState' belongs to another request; repeat the one that it was the answer to");
    }
    this.#suspensions.delete(token);
    this.#clock.clearTimeout(timer);
    return call;
  }

  close(): void {
    for (const { call, timer } of this.#suspensions.values()) {
      this.#clock.clearTimeout(timer);
      call.cancel('the client left');
    }
    this.#suspensions.clear();
  }
}

/** `_meta` differs with each request. */
function withoutMeta({ _meta: _, ...params }: Record<string, unknown>): Record<string, unknown> {
  return params;
}
