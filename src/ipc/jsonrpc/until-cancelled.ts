import { wasCancelled } from './error-codes.js';

/**
 * For work that perhaps cannot be cancelled itself: whoever waits for it need not. What can be has a moment for it,
 * since it alone knows how far it came.
 */
export function untilCancelled<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => setImmediate(() => reject(wasCancelled()));
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    work
      .then(
        (result) => (signal.aborted ? undefined : resolve(result)),
        (error) => reject(signal.aborted ? wasCancelled(error) : error),
      )
      .finally(() => signal.removeEventListener('abort', giveUp));
  });
}
