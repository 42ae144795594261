/** How the SDK's transport resumes a broken stream before its call is lost. */
export const RESUMING = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 2,
};
/** A stream that was cut is resumed at once: a server's `retry` is for streams that it ended on purpose. */
const AFTER_CUT_MS = 50;
/** How often a lost stream of notifications is opened again. */
const REOPEN_MS = 30_000;

export interface StreamRecoveryPorts {
  later(run: () => void, ms: number): () => void;
  /** Opens the stream of notifications. */
  reopen(): Promise<void>;
  log(text: string): void;
}

/** When broken streams of the SDK's streamable HTTP transport are resumed, and when lost ones are opened again. */
export class StreamRecovery {
  readonly #ports: StreamRecoveryPorts;
  #lastBreak: 'ended' | 'cut' = 'ended';
  /** `given up`: the SDK gave a stream up, and has not said yet that it was that of a request. */
  #state: 'resuming' | 'given up' = 'resuming';

  constructor(ports: StreamRecoveryPorts) {
    this.#ports = ports;
  }

  cut(): void {
    this.#lastBreak = 'cut';
  }

  /** Runs `reconnect` after the delay; returns a function that cancels this. */
  schedule(reconnect: () => void, delayMs: number): () => void {
    const ms = this.#lastBreak === 'cut' ? AFTER_CUT_MS : Math.max(delayMs, AFTER_CUT_MS);
    this.#lastBreak = 'ended';
    // a server's `retry` may be 0, or years
    return this.#ports.later(reconnect, Math.min(ms, RESUMING.maxReconnectionDelay));
  }

  /** The SDK gave a stream up. If it was that of a request, `requestStreamEnded` follows at once. */
  gaveUp(): void {
    this.#state = 'given up';
    queueMicrotask(() => {
      if (this.#state === 'given up') this.#reopenLater();
      this.#state = 'resuming';
    });
  }

  requestStreamEnded(): void {
    this.#state = 'resuming';
  }

  #reopenLater(): void {
    const { log, later, reopen } = this.#ports;
    log('its stream of notifications is closed and could not be opened again; more tries follow');
    later(() => {
      reopen().catch(() => this.#reopenLater());
    }, REOPEN_MS);
  }
}
