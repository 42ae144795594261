import { Duplex } from 'node:stream';

/** One message of the herd: the bytes of a line without its newline, in the pieces in which they came. */
export interface LineChunks {
  chunks: readonly Buffer[];
  bytes: number;
}

const NEWLINE = 0x0a;

/**
 * A connection to the socket server without a socket. The server gets `stream`: it reads there what `send` is given, and
 * each message that it writes goes to `onMessage`, without being copied.
 */
export class VirtualConnection {
  readonly stream: Duplex;
  readonly #onMessage: (message: LineChunks) => void;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(onMessage: (message: LineChunks) => void, onClosed: () => void) {
    this.#onMessage = onMessage;
    this.stream = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, taken) => {
        try {
          this.#take(chunk);
        } catch (error) {
          // a bug in `onMessage` ends the connection; the server, which only writes, would not notice it
          taken(error as Error);
          return;
        }
        taken();
      },
    });
    this.stream.on('close', onClosed);
  }

  /** One message without a newline in it. */
  send(line: string | Buffer): void {
    if (this.stream.destroyed) return;
    this.stream.push(line);
    this.stream.push('\n');
  }

  /** The server cancels everything that is in flight. */
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
      if (message.bytes > 0) this.#onMessage(message);
    }
    this.#hold(chunk.subarray(start));
  }

  #hold(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#chunks.push(piece);
    this.#bytes += piece.length;
  }
}
