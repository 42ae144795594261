import { onAbort, withTimeout } from '../shared/async.js';
import { systemClock } from '../shared/clock.js';
import { ToolherdError } from '../shared/errors.js';
import { fleetError } from './fleet-error.js';

/** The fleet was used after it was closed. */
export class FleetClosedError extends ToolherdError {
  override readonly type: string = 'FleetClosedError';

  constructor() {
    super('the fleet is closed', { fix: 'open it again, or close it later' });
  }
}

/** How long `cancelAll` waits for cancelled calls. */
const CANCEL_MS = 2000;

/** The calls of one fleet handle that have not ended. */
export class OpenCalls {
  #running = 0;
  #allEnded: (() => void) | undefined;
  /** Cancels all of them. One for all: an AbortController for each call took a fifth of a call's time. */
  readonly #closing = new AbortController();

  /** Throws after `cancelAll`. */
  check(): void {
    if (this.#closing.signal.aborted) throw new FleetClosedError();
  }

  async run<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.check();
    const { signal: either, forget } = eitherOf(signal, this.#closing.signal);
    this.#running += 1;
    try {
      return await work(either);
    } catch (error) {
      throw fleetError(error);
    } finally {
      forget();
      this.#running -= 1;
      if (this.#running === 0) this.#allEnded?.();
    }
  }

  /** Cancels all calls and refuses new ones. Resolves when they have ended, or after `CANCEL_MS`. */
  async cancelAll(): Promise<void> {
    this.#closing.abort(new FleetClosedError());
    if (this.#running === 0) return;
    const ended = new Promise<void>((resolve) => {
      this.#allEnded = resolve;
    });
    await withTimeout(CANCEL_MS, ended, systemClock);
  }
}

/** A signal that aborts with the caller's own, if it has one, and with that of the handle. */
function eitherOf(own: AbortSignal | undefined, closing: AbortSignal) {
  if (own === undefined) return { signal: closing, forget: () => undefined };
  const controller = new AbortController();
  const forgets = [own, closing].map((signal) => onAbort(signal, () => controller.abort(signal.reason)));
  return {
    signal: controller.signal,
    forget: () => {
      for (const forget of forgets) forget();
    },
  };
}
