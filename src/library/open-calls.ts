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
  readonly #running = new Map<AbortController, Promise<unknown>>();
  #state: 'open' | 'closed' = 'open';

  /** Throws after `cancelAll`. */
  check(): void {
    if (this.#state === 'closed') throw new FleetClosedError();
  }

  async run<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.check();
    const controller = new AbortController();
    const forget = onAbort(signal, () => controller.abort(signal?.reason));
    const running = (async () => work(controller.signal))();
    this.#running.set(controller, running);
    try {
      return await running;
    } catch (error) {
      throw fleetError(error);
    } finally {
      this.#running.delete(controller);
      forget();
    }
  }

  /** Cancels all calls and refuses new ones. Resolves when they have ended, or after `CANCEL_MS`. */
  async cancelAll(): Promise<void> {
    this.#state = 'closed';
    const running = [...this.#running.values()];
    for (const controller of this.#running.keys()) controller.abort(new FleetClosedError());
    await withTimeout(CANCEL_MS, Promise.allSettled(running), systemClock);
  }
}
