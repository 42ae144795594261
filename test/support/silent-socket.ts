import { mkdirSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { makeFolder } from './folder.js';

/** A socket that accepts every connection and never answers, like that of a suspended daemon. */
export async function silentSocket(path = join(makeFolder(), 'run', 'silent.sock')) {
  const connections: Socket[] = [];
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const server = createServer((connection) => {
    connections.push(connection);
    connection.on('error', () => undefined).resume();
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => {
    server.close();
    for (const connection of connections) connection.destroy();
  });
  return { path, connections };
}
