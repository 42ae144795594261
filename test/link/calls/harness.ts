import type { Message } from '../../../src/link/calls/message.js';
import { Session, type SessionOptions } from '../../../src/link/calls/session.js';
import type { Outcome } from '../../../src/shared/call-sink.js';
import type { JsonObject } from '../../../src/shared/json.js';
import { FakeClock } from '../fake-clock.js';

export interface Written {
  id?: number;
  method: string;
  params?: JsonObject;
}

/** A session with a fake clock, on a wire that records what is written to it. */
export function harness(options: Partial<SessionOptions> = {}) {
  const clock = new FakeClock();
  const written: Written[] = [];
  const others: Message[] = [];
  const faults: unknown[] = [];
  const wire = {
    ready: true,
    accepts: true,
    write(line: string) {
      if (wire.accepts) written.push(JSON.parse(line));
      return wire.accepts;
    },
  };
  const session = new Session({
    name: 'srv',
    wire,
    clock,
    timeoutMs: 1000,
    maxTimeoutMs: 5000,
    maxInFlight: 4,
    other: (message) => others.push(message),
    fault: (error) => faults.push(error),
    ...options,
  });
  const requests = () => written.filter(({ id }) => id !== undefined);
  return {
    clock,
    wire,
    written,
    requests,
    cancels: () => written.filter(({ method }) => method === 'notifications/cancelled'),
    others,
    faults,
    session,
    deliver: (message: unknown) => session.deliver(Buffer.from(JSON.stringify(message))),
    reply: (id: number | undefined, result: JsonObject = {}) =>
      session.deliver(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result }))),
    progress: (progressToken: unknown) =>
      session.deliver(
        Buffer.from(
          JSON.stringify({
            jsonrpc: '2.0',
            method: 'notifications/progress',
            params: { progressToken, progress: 1 },
          }),
        ),
      ),
    /** Sends and collects what becomes of it. */
    send(
      method = 'tools/call',
      params: JsonObject = {},
      more: { timeoutMs?: number; progress?: () => void } = {},
    ) {
      const outcomes: Outcome[] = [];
      const { progress, ...limits } = more;
      const handle = session.send(
        { method, params, ...limits },
        { settle: (outcome) => outcomes.push(outcome), progress },
      );
      return { handle, outcomes, id: handle?.id };
    },
  };
}

export function errorIn(outcomes: Outcome[]) {
  const [outcome, ...more] = outcomes;
  if (outcome === undefined || outcome.ok || more.length > 0) throw new Error(JSON.stringify(outcomes));
  return outcome.error;
}
