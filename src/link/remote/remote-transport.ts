import type { Duplex } from 'node:stream';
import type { FetchLike } from '@modelcontextprotocol/client';
import type { HerdServerSpec } from '../../config/fields/spec.js';
import type { Clock } from '../../shared/clock.js';
import type { OversizedLine } from '../../shared/framing/framer.js';
import type { TransportFailure } from '../failures/transport-failure.js';

/**
 * The events of a transport. `broke` or `goodbye` once at most; none after either of them, nor after `close`.
 */
export interface TransportEvents {
  /** One message as bytes. */
  line(bytes: Buffer): void;
  /** One message, where the transport has it only parsed. */
  message(raw: unknown): void;
  oversized(line: OversizedLine): void;
  /** A part of a message came. Only of transports that send one message after another. */
  received(): void;
  /** The transport takes messages again. */
  drained(): void;
  /** This request or its reply got lost; others may get through. */
  lost(id: number, failure: TransportFailure): void;
  /**
   * A connection broke, because the server is gone or for one request only: worth a ping. `stream`: the request whose
   * response had begun.
   */
  doubtful(stream?: number): void;
  /** The connection is lost. */
  broke(failure: TransportFailure): void;
  /** The server closed the connection properly. */
  goodbye(): void;
  log(text: string): void;
}

export interface TransportPorts {
  clock: Clock;
  on: TransportEvents;
  /** Whether a call is in flight. */
  isBusy(): boolean;
  /** Adds the server's authorisation to a fetch, which may then reject with AuthRequiredError. */
  authorize?: ((send: FetchLike) => FetchLike) | undefined;
  /** The connection to the herd or the node of a server. Absent: this program keeps none. */
  herd?: ((spec: HerdServerSpec) => HerdPort) | undefined;
}

/** The connection of another herd, as the connections to its servers use it. */
export interface HerdPort {
  /**
   * A new connection to its daemon, when that is reached. Rejects with a TransportError. A connection that breaks later is
   * destroyed with a TransportError where the reason is known at once.
   */
  dial(): Promise<Duplex>;
  /** Called when the connection is lost, until the returned function is called. */
  onLost(listen: (failure: TransportFailure) => void): () => void;
}

/** Sends messages to one remote server and receives its messages. */
export interface RemoteTransport {
  /** Resolves when messages can be written; rejects with a TransportError. */
  dial(): Promise<void>;
  /** False while it takes no more messages. */
  readonly ready: boolean;
  /** False when the message was refused: the server gets no byte of it. */
  write(line: string): boolean;
  /**
   * Resolves when the connection is closed, with the answer of a server that refused to end the session. `politely`: the
   * server is told first, within `GOODBYE_MS`.
   */
  close(politely: boolean): Promise<TransportFailure | undefined>;
}

/** How long a remote server may take to answer the end of its session. */
export const GOODBYE_MS = 2000;
