import { messageOf } from '../../shared/errors.js';
import type { JsonObject } from '../../shared/json.js';
import type { CallHandle, CallOptions, Outcome } from './call.js';
import { cancelled } from './refusals.js';
import type { Session } from './session.js';

/** A call as a promise, with a signal that cancels it. */
export function promisedCall(
  session: Pick<Session, 'name' | 'send'>,
  method: string,
  params: JsonObject | undefined,
  options: CallOptions,
): Promise<JsonObject> {
  const { signal, onProgress, ...limits } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(cancelled(session.name, false, reasonOf(signal)));
      return;
    }
    let handle: CallHandle | undefined;
    const abort = () => handle?.cancel(signal === undefined ? undefined : reasonOf(signal));
    const settle = (outcome: Outcome) => {
      signal?.removeEventListener('abort', abort);
      if (outcome.ok) resolve(outcome.result);
      else reject(outcome.error);
    };
    signal?.addEventListener('abort', abort);
    handle = session.send({ method, params, ...limits }, { settle, progress: onProgress });
  });
}

function reasonOf(signal: AbortSignal): string {
  const { reason } = signal;
  return messageOf(reason);
}
