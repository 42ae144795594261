import type { LineChunks } from './virtual-connection.js';

interface Kept {
  stream: number;
  sequence: number;
  message: LineChunks;
}

/** How much a client that lost its stream can get again. */
const MAX_BYTES = 8 * 2 ** 20;
const MAX_EVENTS = 1000;

/** The last events of the streams of a session. The oldest are dropped first. */
export class EventLog {
  #kept: Kept[] = [];
  #bytes = 0;

  keep(stream: number, sequence: number, message: LineChunks): void {
    if (message.bytes > MAX_BYTES) return;
    this.#kept.push({ stream, sequence, message });
    this.#bytes += message.bytes;
    while (this.#bytes > MAX_BYTES || this.#kept.length > MAX_EVENTS) {
      this.#bytes -= this.#kept.shift()?.message.bytes ?? 0;
    }
  }

  /** The events of a stream after this one. */
  after(stream: number, sequence: number): Kept[] {
    return this.#kept.filter((event) => event.stream === stream && event.sequence > sequence);
  }
}

export interface EventId {
  stream: number;
  sequence: number;
}

export function eventId({ stream, sequence }: EventId): string {
  return `${stream}-${sequence}`;
}

export function readEventId(text: string): EventId | undefined {
  const [, stream, sequence] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
  return stream === undefined ? undefined : { stream: Number(stream), sequence: Number(sequence) };
}
