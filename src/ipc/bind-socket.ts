import { renameSync, unlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { checkLength, checkSocketPath, isCode, isOurs, look } from './socket-path.js';

/**
 * Listens at a path, whose lock the caller holds. The socket is bound under another name and then renamed to its own:
 * so it takes a stale one's place in one step and serves from its first moment, and Node, which unlinks the bound name
 * when a server closes, never unlinks what another has put in our place.
 */
export async function bindSocket(path: string, onConnection: (socket: Socket) => void): Promise<Server> {
  const name = join(dirname(path), `.${process.pid.toString(36)}`);
  checkLength(name);
  checkSocketPath(path);
  const leftover = look(name);
  if (leftover?.isSocket() && isOurs(leftover)) unlinkSync(name);
  const server = createServer({ allowHalfOpen: true }, onConnection);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // bind happens within listen: the mode is right from the first moment
    const umask = process.umask(0o177);
    server.listen(name);
    process.umask(umask);
    if (!server.listening) return;
    try {
      renameSync(name, path);
      resolve();
    } catch (error) {
      server.close();
      reject(error);
    }
  });
  server.removeAllListeners('error');
  return server;
}

/** Whether somebody listens there. What is not a clear no counts as yes. */
export function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', (error) => resolve(!isCode(error, 'ECONNREFUSED', 'ENOENT')));
  });
}
