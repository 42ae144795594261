import type { Socket } from 'node:net';
import { Framer } from '../../framing/framer.js';
import { readLine } from '../../ipc/message.js';
import { ConnectionLostError, RemoteError } from '../../ipc/remote-error.js';
import { VERSION } from '../../version.js';

const MAX_REPLY_BYTES = 2 ** 20;

/** What a bridge shows of the herd. */
export interface Outlook {
  server: string | undefined;
  /** The full path of an agent's file. */
  agent: string | undefined;
}

/** Says who is there and what it wants to see; rejects when the daemon does not have that. */
export function sayHello(socket: Socket, outlook: Outlook): Promise<void> {
  const params = { client: { name: 'toolherd bridge', version: VERSION }, ...outlook };
  return new Promise((resolve, reject) => {
    const done = (error?: Error) => {
      // paused, so that nothing is lost before the next one listens
      socket.off('data', hear).off('close', lost).pause();
      if (error === undefined) resolve();
      else reject(error);
    };
    const lost = () => done(new ConnectionLostError('before it had answered', { sent: false }));
    const framer = new Framer(MAX_REPLY_BYTES, {
      line: (line) => {
        const reply = readLine(line);
        done(!Array.isArray(reply) && reply.kind === 'failure' ? new RemoteError(reply.error) : undefined);
      },
      tooLong: lost,
    });
    const hear = (chunk: Buffer) => framer.push(chunk);
    socket
      .on('data', hear)
      .once('close', lost)
      .on('error', () => undefined)
      .resume();
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'fleet/hello', params })}\n`);
  });
}
