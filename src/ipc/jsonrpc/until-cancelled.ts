import { onAbort } from '../../shared/async.js';
import { wasCancelled } from './rpc-error.js';

/**
 * Rejects when the signal aborts, even if the work cannot be cancelled. Work that can be gets one turn of the event loop
 * to reject first, because it knows whether its request was sent.
 */
export function untilCancelled<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, () => setImmediate(() => reject(wasCancelled())));
    work
      .then(
        (result) => (signal.aborted ? undefined : resolve(result)),
        (error) => reject(signal.aborted ? wasCancelled(error) : error),
      )
      .finally(forget);
  });
}
