import type { Socket } from 'node:net';
import { Framing } from '../../ipc/framing.js';
import { readLine } from '../../ipc/message.js';
import { ConnectionLostError, RemoteError } from '../../ipc/remote-error.js';
import { VERSION } from '../../version.js';

const MAX_REPLY_BYTES = 2 ** 20;

/** Says who is there and what it wants to see; rejects when the daemon does not have that. */
export function sayHello(socket: Socket, server: string | undefined): Promise<void> {
  const params = { client: { name: 'toolherd bridge', version: VERSION }, server };
  return new Promise((resolve, reject) => {
    const done = (error?: Error) => {
      // paused, so that nothing is lost before the next one listens
      socket.off('data', hear).off('close', lost).pause();
      if (error === undefined) resolve();
      else {
        socket.destroy();
        reject(error);
      }
    };
    const lost = () => done(new ConnectionLostError('before it had answered', { sent: false }));
    const framing = new Framing(MAX_REPLY_BYTES, {
      line: (line) => {
        const reply = readLine(line);
        done(!Array.isArray(reply) && reply.kind === 'failure' ? new RemoteError(reply.error) : undefined);
      },
      tooLong: lost,
    });
    const hear = (chunk: Buffer) => framing.push(chunk);
    socket
      .on('data', hear)
      .once('close', lost)
      .on('error', () => undefined);
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'fleet/hello', params })}\n`);
  });
}
