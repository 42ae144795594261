import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, systemClock } from '../../shared/clock.js';
import { wrong } from '../jsonrpc/params.js';

/** A call whose server waits for an answer of the client. */
export interface SuspendedCall {
  readonly method: string;
  /** What it was made with; the client repeats it. */
  readonly params: Record<string, unknown>;
  cancel(reason: string): void;
}

interface Place<T> {
  call: T;
  timer: unknown;
}

/** Nobody thinks longer about a question; by default a call is given up then anyway. */
export const SUSPENDED_MS = 10 * 60_000;
const MOST = 1000;

/**
 * Calls that wait until their client comes back with an answer. In this era it does so with a request of its own, which
 * only a token ties to the first: it cannot be guessed, is good once, and does not last. What nobody comes back for
 * is cancelled.
 */
export class SuspendedCalls<T extends SuspendedCall = SuspendedCall> {
  readonly #clock: Clock;
  readonly #places = new Map<string, Place<T>>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#places.size;
  }

  /** Undefined where too many wait already. */
  suspend(call: T): string | undefined {
    if (this.#places.size >= MOST) return undefined;
    const token = randomBytes(24).toString('base64url');
    const timer = this.#clock.setTimeout(() => {
      this.#places.delete(token);
      call.cancel('nobody answered what the server asked');
    }, SUSPENDED_MS);
    this.#places.set(token, { call, timer });
    return token;
  }

  /** The one that waits for this request. A request that is another leaves it where it is. */
  take(token: string, method: string, params: Record<string, unknown>): T {
    const place = this.#places.get(token);
    if (place === undefined) {
      throw wrong(
        "'requestState' is none that waits here: it was used, took too long, or is of another daemon; call anew",
      );
    }
    const { call, timer } = place;
    if (call.method !== method || !isDeepStrictEqual(withoutMeta(call.params), withoutMeta(params))) {
      throw wrong("'requestState' belongs to another request; repeat the one that it was the answer to");
    }
    this.#places.delete(token);
    this.#clock.clearTimeout(timer);
    return call;
  }

  close(): void {
    for (const { call, timer } of this.#places.values()) {
      this.#clock.clearTimeout(timer);
      call.cancel('the client left');
    }
    this.#places.clear();
  }
}

/** A client says there what is new with each request. */
function withoutMeta({ _meta: _, ...params }: Record<string, unknown>): Record<string, unknown> {
  return params;
}
