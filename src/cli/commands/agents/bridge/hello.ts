import type { Socket } from 'node:net';
import { readLine } from '../../../../ipc/jsonrpc/message.js';
import { ConnectionLostError, RemoteError } from '../../../../ipc/jsonrpc/remote-error.js';
import { VERSION } from '../../../../shared/version.js';
import type { Hello } from '../../../daemon/connect.js';

const MAX_REPLY_BYTES = 2 ** 20;
const NEWLINE = 0x0a;

/** What a bridge shows of the herd. */
export interface BridgeView {
  server: string | undefined;
  /** The full path of an agent's file. */
  agent: string | undefined;
}

/**
 * Says who is there and what it wants to see; rejects when the daemon does not have that. What the daemon says behind its
 * answer (see `fleet/closing`) is left for the next reader.
 */
export function sayHello(socket: Socket, viewMode: BridgeView): Promise<Hello> {
  const params = { client: { name: 'toolherd bridge', version: VERSION }, ...viewMode, closing_notice: true };
  return new Promise((resolve, reject) => {
    // paused, so that nothing is lost before the next one listens
    const leave = () => void socket.off('data', hear).off('close', lost).pause();
    const lost = () => {
      leave();
      reject(new ConnectionLostError('before it had answered', { sent: false }));
    };
    let heard = Buffer.alloc(0);
    const hear = (chunk: Buffer) => {
      heard = Buffer.concat([heard, chunk]);
      const end = heard.indexOf(NEWLINE);
      if (end === -1) {
        if (heard.length > MAX_REPLY_BYTES) lost();
        return;
      }
      leave();
      const reply = readLine(heard.subarray(0, end));
      if (!Array.isArray(reply) && reply.kind === 'reply') resolve(reply.result as Hello);
      else if (!Array.isArray(reply) && 'error' in reply) reject(new RemoteError(reply.error));
      else lost();
      if (heard.length > end + 1) socket.unshift(heard.subarray(end + 1));
    };
    socket
      .on('data', hear)
      .once('close', lost)
      .on('error', () => undefined)
      .resume();
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'fleet/hello', params })}\n`);
  });
}
