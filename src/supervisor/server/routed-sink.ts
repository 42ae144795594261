import type { CallHandle, CallRequest, CallSink } from '../../link/session/call.js';
import type { Session } from '../../link/session/session.js';

/** A sink that also learns which incarnation its call was given to. */
export interface RoutedSink extends CallSink {
  routed?: ((incarnation: number) => void) | undefined;
}

export function route(session: Session, request: CallRequest, sink: RoutedSink): CallHandle | undefined {
  sink.routed?.(session.incarnation);
  return session.send(request, sink);
}
