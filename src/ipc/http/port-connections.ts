import type { Socket } from 'node:net';

/**
 * Limits the connections of a port. Every user of this machine can open them, also without the token. So a full port
 * closes the oldest connection without a request and takes the new one: silent connections do not shut a client out.
 */
export class PortConnections {
  readonly #max: number;
  readonly #open = new Set<Socket>();
  /** Those without a request so far, oldest first. */
  readonly #silent = new Set<Socket>();

  constructor(max: number) {
    this.#max = max;
  }

  /** False where the connection was refused. */
  add(socket: Socket): boolean {
    if (this.#open.size >= this.#max) {
      const [oldest = socket] = this.#silent;
      oldest.destroy();
      this.#remove(oldest);
      if (oldest === socket) return false;
    }
    this.#open.add(socket);
    this.#silent.add(socket);
    socket.once('close', () => this.#remove(socket));
    return true;
  }

  /** A request has come. */
  heard(socket: Socket): void {
    this.#silent.delete(socket);
  }

  #remove(socket: Socket): void {
    this.#open.delete(socket);
    this.#silent.delete(socket);
  }
}
