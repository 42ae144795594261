import type { Socket } from 'node:net';
import type { Hello } from '../../../../fleet/hello.js';
import { readLine } from '../../../../ipc/jsonrpc/message.js';
import { ConnectionLostError, RemoteError } from '../../../../ipc/jsonrpc/remote-error.js';
import { VERSION } from '../../../../shared/version.js';
import type {} from '../../../daemon/connect.js';

const MAX_REPLY_BYTES = 2 ** 20;
const NEWLINE = 0x0a;

/** The part of the herd that a bridge shows. */
export interface BridgeView {
  server: string | undefined;
  /** The full path of an agent's file. */
  agent: string | undefined;
  /** A named part of the herd. */
  profile: string | undefined;
  /** Of public names; undefined: that of the config. */
  separator: string | undefined;
  /** Whether tools are listed or searched; undefined: as the config says. */
  surface: string | undefined;
  /** Where the agent works. */
  folder: string;
}

/**
 * Says hello with the view that the bridge wants. Rejects if the daemon refuses it. Bytes behind the reply (such as
 * `fleet/closing`) stay in the socket for the next reader.
 */
export function sayHello(socket: Socket, view: BridgeView): Promise<Hello> {
  const params = { client: { name: 'toolherd bridge', version: VERSION }, ...view, closing_notice: true };
  return new Promise((resolve, reject) => {
    // paused, so that no byte is lost before the next listener
    const leave = () => void socket.off('data', onData).off('close', lost).pause();
    const lost = () => {
      leave();
      reject(new ConnectionLostError('before it had answered', { sent: false }));
    };
    let received = Buffer.alloc(0);
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const end = received.indexOf(NEWLINE);
      if (end === -1) {
        if (received.length > MAX_REPLY_BYTES) lost();
        return;
      }
      leave();
      const reply = readLine(received.subarray(0, end));
      if (!Array.isArray(reply) && reply.kind === 'reply') resolve(reply.result as Hello);
      else if (!Array.isArray(reply) && 'error' in reply) reject(new RemoteError(reply.error));
      else lost();
      if (received.length > end + 1) socket.unshift(received.subarray(end + 1));
    };
    socket
      .on('data', onData)
      .once('close', lost)
      .on('error', () => undefined)
      .resume();
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'fleet/hello', params })}\n`);
  });
}
