import { onAbort } from '../shared/async.js';
import { ToolherdError } from '../shared/errors.js';

/** Who closed the fleet cannot use it any more. */
export class FleetClosedError extends ToolherdError {
  override readonly type: string = 'FleetClosedError';

  constructor() {
    super('the fleet is closed', { fix: 'open it again, or close it later' });
  }
}

/** In which whoever was asked to take a call back has done so. */
const PATIENCE_MS = 2000;

/** What one holder of a fleet has under way. The end takes it back. */
export class InFlight {
  readonly #works = new Map<AbortController, Promise<unknown>>();
  #state: 'open' | 'closed' = 'open';

  /** Throws when it is too late. */
  check(): void {
    if (this.#state === 'closed') throw new FleetClosedError();
  }

  async run<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.check();
    const controller = new AbortController();
    const forget = onAbort(signal, () => controller.abort(signal?.reason));
    const running = (async () => work(controller.signal))();
    this.#works.set(controller, running);
    try {
      return await running;
    } finally {
      this.#works.delete(controller);
      forget();
    }
  }

  /** Resolves when nobody waits any more, or has waited long enough. */
  async end(): Promise<void> {
    this.#state = 'closed';
    const works = [...this.#works.values()];
    for (const controller of this.#works.keys()) controller.abort(new FleetClosedError());
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PATIENCE_MS);
    });
    await Promise.race([Promise.allSettled(works), patience]);
    clearTimeout(timer);
  }
}
