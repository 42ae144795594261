import { linkSync, renameSync, type Stats, unlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { isCode } from '../../shared/errors.js';
import { checkLength, checkSocketPath, isOurs, look } from './socket-path.js';

export interface BoundSocket {
  server: Server;
  /** Of our socket, whatever file is at its path now. No other file gets this inode while we listen. */
  inode: Stats | undefined;
}

/**
 * Listens at a path whose lock the caller holds. The socket is bound under a temporary name and then renamed. So it
 * serves as soon as it is visible, and Node, which unlinks the bound name when a server closes, never unlinks a file that
 * another program put at the path. A stale socket is replaced in one step. With `replace: 'nothing'` a file at the path
 * is left alone, and this fails with EEXIST.
 */
export async function bindSocket(
  path: string,
  onConnection: (socket: Socket) => void,
  replace: 'stale' | 'nothing',
): Promise<BoundSocket> {
  const name = join(dirname(path), `.${process.pid.toString(36)}`);
  checkLength(name);
  checkSocketPath(path);
  const leftover = look(name);
  if (leftover?.isSocket() && isOurs(leftover)) unlinkSync(name);
  const server = createServer({ allowHalfOpen: true }, onConnection);
  const inode = await new Promise<Stats | undefined>((resolve, reject) => {
    server.once('error', reject);
    // bind happens within listen: the mode is right from the first moment
    const umask = process.umask(0o177);
    server.listen(name);
    process.umask(umask);
    if (!server.listening) return;
    try {
      const bound = look(name);
      if (replace === 'stale') renameSync(name, path);
      else renameIfFree(name, path);
      resolve(bound);
    } catch (error) {
      server.close();
      reject(error);
    }
  });
  server.removeAllListeners('error');
  return { server, inode };
}

/** Unlike rename, link never replaces anything. */
function renameIfFree(name: string, path: string): void {
  linkSync(name, path);
  unlinkSync(name);
}

/** Whether a process listens there. Only a refused connection or a missing file counts as no. */
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
