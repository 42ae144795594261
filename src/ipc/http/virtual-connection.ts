import { Duplex } from 'node:stream';

/** One message, as the herd wrote it: the bytes of a line without its newline, in the pieces in which they came. */
export interface Message {
  chunks: readonly Buffer[];
  bytes: number;
}

const NEWLINE = 0x0a;

/**
 * A connection of the socket without a socket. Its `stream` is given to whoever serves connections; what is said here
 * is read there, and what is written there is heard here, a message at a time and never copied.
 */
export class VirtualConnection {
  readonly stream: Duplex;
  readonly #hear: (message: Message) => void;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(hear: (message: Message) => void, closed: () => void) {
    this.#hear = hear;
    this.stream = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, taken) => {
        try {
          this.#take(chunk);
        } catch (error) {
          // a fault of whoever hears is not the writer's, who would go on as if it had been taken: it ends the connection
          taken(error as Error);
          return;
        }
        taken();
      },
    });
    this.stream.on('close', closed);
  }

  /** One message without a newline in it. */
  say(line: string | Buffer): void {
    if (this.stream.destroyed) return;
    this.stream.push(line);
    this.stream.push('\n');
  }

  /** Nobody listens any more: whatever is in flight is cancelled. */
  destroy(): void {
    this.stream.destroy();
  }

  #take(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) break;
      this.#hold(chunk.subarray(start, end));
      start = end + 1;
      const message = { chunks: this.#chunks, bytes: this.#bytes };
      this.#chunks = [];
      this.#bytes = 0;
      if (message.bytes > 0) this.#hear(message);
    }
    this.#hold(chunk.subarray(start));
  }

  #hold(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#chunks.push(piece);
    this.#bytes += piece.length;
  }
}
