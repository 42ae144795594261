import type { Writable } from 'node:stream';

/** The most that may wait for a slow reader. */
const MOST_WAITING_BYTES = 2 ** 20;
const WARN = 40;

/**
 * A copy of the log on a stream, for `up --foreground`. The daemon never waits for a reader: lines over the limit are
 * dropped and counted, and a stream that fails gets no further line. The log files have all of them.
 */
export class LogEcho {
  readonly #stream: Writable;
  readonly #now: () => Date;
  #state: 'open' | 'full' | 'gone' = 'open';
  #dropped = 0;

  constructor(stream: Writable, now: () => Date = () => new Date()) {
    this.#stream = stream;
    this.#now = now;
    stream.on('error', () => {
      this.#state = 'gone';
    });
  }

  write(line: string): void {
    if (this.#state === 'open' && this.#stream.writableLength >= MOST_WAITING_BYTES) this.#wait();
    if (this.#state === 'open') this.#stream.write(line);
    else this.#dropped += 1;
  }

  #wait(): void {
    this.#state = 'full';
    this.#stream.once('drain', () => {
      if (this.#state === 'gone') return;
      this.#state = 'open';
      this.#reportDropped();
    });
  }

  #reportDropped(): void {
    const [lost, time] = [this.#dropped, this.#now().toISOString()];
    this.#dropped = 0;
    const msg = `${lost} log lines were dropped here because the reader was too slow; the log files have them`;
    this.write(`${JSON.stringify({ level: WARN, time, lost, msg })}\n`);
  }
}
