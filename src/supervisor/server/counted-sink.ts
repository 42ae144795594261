import type { Ask, CallRequest, Outcome } from '../../link/session/call.js';
import type { JsonObject } from '../../shared/json.js';
import type { RoutedSink } from './routed-sink.js';

/** Hears of a call that has its outcome, after whoever made it. */
export type Count = (
  begunMs: number,
  request: CallRequest,
  outcome: Outcome,
  incarnation: number | null,
) => void;

/** A sink like the one that it stands in front of, whose outcome is also counted. */
export class CountedSink implements RoutedSink {
  readonly progress: ((progress: JsonObject) => void) | undefined;
  readonly ask: Ask | undefined;
  readonly acceptsRaw: boolean | undefined;
  readonly #count: Count;
  readonly #request: CallRequest;
  readonly #sink: RoutedSink;
  readonly #begunMs: number;
  #incarnation: number | null = null;

  constructor(count: Count, request: CallRequest, sink: RoutedSink, begunMs: number) {
    this.progress = sink.progress;
    this.ask = sink.ask;
    this.acceptsRaw = sink.acceptsRaw;
    this.#count = count;
    this.#request = request;
    this.#sink = sink;
    this.#begunMs = begunMs;
  }

  routed(incarnation: number): void {
    this.#incarnation = incarnation;
    this.#sink.routed?.(incarnation);
  }

  settle(outcome: Outcome): void {
    try {
      this.#sink.settle(outcome);
    } finally {
      this.#count(this.#begunMs, this.#request, outcome, this.#incarnation);
    }
  }
}
