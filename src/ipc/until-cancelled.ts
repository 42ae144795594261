import { cancelled } from './error-codes.js';
import { RpcError } from './rpc-error.js';

/** For work that cannot be cancelled itself: whoever waits for it need not. */
export function untilCancelled<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      const { code, message, data } = cancelled();
      reject(new RpcError(code, message, data));
    };
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
