import type { Socket } from 'node:net';

/** The servers of the two protocols. */
export interface ProtocolServers {
  http(socket: Socket): void;
  lines(socket: Socket): void;
}

const NOTHING = Buffer.alloc(0);
const HTTP_BEGINS = ['GET ', 'POST ', 'DELETE ', 'HEAD ', 'OPTIONS ', 'PUT ', 'PATCH '].map((word) =>
  Buffer.from(word),
);

/**
 * Tells the two protocols of the socket apart: a connection that begins with an HTTP method is HTTP, every other one is
 * JSON lines. The server of the protocol reads it from its first byte. A client that sends nothing stays here, and costs
 * a file descriptor.
 */
export class ProtocolDetection {
  readonly #servers: ProtocolServers;
  readonly #undecided = new Set<Socket>();

  constructor(servers: ProtocolServers) {
    this.#servers = servers;
  }

  /** How many connections have not sent enough bytes to tell. */
  get undecided(): number {
    return this.#undecided.size;
  }

  accept(socket: Socket): void {
    let head: Buffer = NOTHING;
    const look = () => {
      for (let chunk = read(socket); chunk !== null; chunk = read(socket)) {
        head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
        const protocol = protocolOf(head);
        if (protocol === undefined) continue;
        leave();
        socket.unshift(head);
        this.#servers[protocol](socket);
        return;
      }
    };
    const leave = () => {
      this.#undecided.delete(socket);
      socket.off('readable', look).off('end', end).off('close', leave).off('error', leave);
    };
    // no complete message came, so there is nothing to answer
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

/** Whether the first bytes of a connection are an HTTP method. */
export function looksLikeHttp(head: Buffer): boolean {
  return protocolOf(head) === 'http';
}

/** Undefined while both are possible. */
function protocolOf(head: Buffer): keyof ProtocolServers | undefined {
  const fits = HTTP_BEGINS.filter((begin) => {
    const length = Math.min(begin.length, head.length);
    return head.subarray(0, length).equals(begin.subarray(0, length));
  });
  if (fits.length === 0) return 'lines';
  return fits.some((begin) => begin.length <= head.length) ? 'http' : undefined;
}
