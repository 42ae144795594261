import type { RequestContext } from './incoming-request.js';
import type { Params } from './params.js';

interface Notified {
  notify(method: string, params: Record<string, unknown>): void;
}

/** Sends the progress of a request to its caller; undefined where the caller gave no token for it. */
export function progressTo(
  caller: Notified,
  params: Params,
  context: RequestContext,
): ((progress: Record<string, unknown>) => void) | undefined {
  const progressToken = params.progressToken();
  if (progressToken === undefined) return undefined;
  return (progress) => {
    // a server may send progress after the reply
    if (context.isOpen) caller.notify('notifications/progress', { ...progress, progressToken });
  };
}
