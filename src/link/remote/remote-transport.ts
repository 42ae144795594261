import type { FetchLike } from '@modelcontextprotocol/client';
import type { Clock } from '../../shared/clock.js';
import type { OversizedLine } from '../../shared/framing/framer.js';
import type { TransportFailure } from './transport-failure.js';

/**
 * What a carrier tells. `broke` or `goodbye` once at most; nothing after either of them, nor after `close`.
 */
export interface TransportEvents {
  /** One message, as bytes where the transport has them, parsed where it has not. */
  line(bytes: Buffer): void;
  message(raw: unknown): void;
  oversized(line: OversizedLine): void;
  /** A part of a message came. Told where messages stand in line behind each other. */
  heard(): void;
  /** It takes messages again. */
  drained(): void;
  /** This request or its reply got lost; others may fare better. */
  lost(id: number, failure: TransportFailure): void;
  /**
   * Something broke that may have been the server's end, or a matter of one exchange: worth a ping. `stream`: the
   * request whose answer had begun.
   */
  doubtful(stream?: number): void;
  /** The connection is at its end. */
  broke(failure: TransportFailure): void;
  /** The server closed the connection properly. */
  goodbye(): void;
  log(text: string): void;
}

export interface TransportPorts {
  clock: Clock;
  on: TransportEvents;
  /** Whether a call is with the server. */
  isBusy(): boolean;
  /** Puts the server's authorisation on top of a fetch. It may reject with AuthRequiredError. */
  authorize?: ((send: FetchLike) => FetchLike) | undefined;
}

/** Carries messages to one remote server and back, without knowing what they say. */
export interface RemoteTransport {
  /** Resolves when messages can be written; rejects with a TroubleError. */
  dial(): Promise<void>;
  /** False while it takes no more. */
  readonly ready: boolean;
  /** False when it was refused: not a byte of it will reach the server. */
  write(line: string): boolean;
  /** Resolves when nothing of the connection is left. `politely`: the server is told first, within two seconds. */
  close(politely: boolean): Promise<void>;
}

/** A remote server that is told goodbye may take this long to answer. */
export const GOODBYE_MS = 2000;
