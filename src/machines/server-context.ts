/** The server machine's events, reports, context and delays. */
import type { ActorRef, Snapshot } from 'xstate';
import type { LinkReport } from './link-protocol.js';
import { timerMs } from './restart/durations.js';
import type { Ending } from './restart/ending.js';

export type ServerOrder =
  | { type: 'connect' }
  | { type: 'stop' }
  /** Stop to free memory, unless a call is in flight; the next call starts another. `message`: what needs the memory. */
  | { type: 'rest'; message: string };
export type ServerEvent = ServerOrder | LinkReport;

/** The reports of a living incarnation to its keeper. Its ending is no report: it is the machine's output. */
export type ServerReport = { type: 'server.connected'; incarnation: number };

export interface ServerSettings {
  name: string;
  /** From `connect` to the end of the handshake. */
  startTimeoutMs: number;
  /** How long a reading of the lists may hold up the idle timer. */
  discoverTimeoutMs: number;
  /** 0 = never. */
  idleTimeoutMs: number;
  /** The link's whole stop sequence and a margin: after it the sequence is taken for stuck. */
  closeTimeoutMs: number;
  /** How long no call has been in flight; 0 while one is. Looked at when the timer fires, so a call costs no event. */
  idleForMs: () => number;
  /** The object that acts for this server. The machine only passes it on, so that one chart serves every server. */
  host?: unknown;
}

export interface ServerInput extends ServerSettings {
  incarnation: number;
  keeper?: ActorRef<Snapshot<unknown>, ServerReport>;
}

export interface ServerContext extends ServerInput {
  /** The end it is heading for. */
  ending: Ending;
}

/** Every delay of the machine. One that is missing here would fire at once; a test compares both sides. */
export const serverDelays = {
  startTimeout: ({ context }: { context: ServerContext }) => timerMs(context.startTimeoutMs),
  discoverTimeout: ({ context }: { context: ServerContext }) => timerMs(context.discoverTimeoutMs),
  closeTimeout: ({ context }: { context: ServerContext }) => timerMs(context.closeTimeoutMs),
  /** What is left of the idle time, so that it is not overslept by a whole period. */
  idleTimeout: ({ context }: { context: ServerContext }) =>
    timerMs(
      context.idleTimeoutMs === 0 ? Number.POSITIVE_INFINITY : context.idleTimeoutMs - context.idleForMs(),
    ),
};
