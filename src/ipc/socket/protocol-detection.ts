import type { Socket } from 'node:net';

/** Where a connection goes, once its first bytes have said what it is. */
export interface ProtocolServers {
  http(socket: Socket): void;
  lines(socket: Socket): void;
}

const NOTHING = Buffer.alloc(0);
const HTTP_BEGINS = ['GET ', 'POST ', 'DELETE ', 'HEAD ', 'OPTIONS ', 'PUT ', 'PATCH '].map((word) =>
  Buffer.from(word),
);

/**
 * One socket, two ways to speak on it: what begins with a method of HTTP is HTTP, everything else is lines. Whoever
 * gets the connection reads it from its first byte. A client that says nothing waits here, and costs its descriptor.
 */
export class ProtocolDetection {
  readonly #servers: ProtocolServers;
  readonly #undecided = new Set<Socket>();

  constructor(servers: ProtocolServers) {
    this.#servers = servers;
  }

  /** Connections of which nobody knows yet what they are. */
  get undecided(): number {
    return this.#undecided.size;
  }

  enter(socket: Socket): void {
    let head: Buffer = NOTHING;
    const look = () => {
      for (let chunk = read(socket); chunk !== null; chunk = read(socket)) {
        head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        const room = serverFor(head);
        if (room === undefined) continue;
        leave();
        socket.unshift(head);
        this.#servers[room](socket);
        return;
      }
    };
    const leave = () => {
      this.#undecided.delete(socket);
      socket.off('readable', look).off('end', end).off('close', leave).off('error', leave);
    };
    // less than a message came: there is nothing to answer
    const end = () => void socket.end();
    this.#undecided.add(socket);
    socket.on('readable', look).on('end', end).on('close', leave).on('error', leave);
  }

  close(): void {
    for (const socket of this.#undecided) socket.destroy();
  }
}

function read(socket: Socket): Buffer | null {
  return socket.read() as Buffer | null;
}

/** Undefined while it may still become either. */
function serverFor(head: Buffer): keyof ProtocolServers | undefined {
  const fits = HTTP_BEGINS.filter((begin) => {
    const length = Math.min(begin.length, head.length);
    return head.subarray(0, length).equals(begin.subarray(0, length));
  });
  if (fits.length === 0) return 'lines';
  return fits.some((begin) => begin.length <= head.length) ? 'http' : undefined;
}
