// A real nats-server, and a service that answers each request with what it got.
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { end, makeFolder, removeFolder, start } from '../children.mjs';
import { until } from '../patience.mjs';

const ECHO_SERVICE = join(import.meta.dirname, '..', 'nats-echo.mjs');

/** Undefined where it is not installed. */
export function findNatsServer() {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/bin'];
  return folders.map((folder) => join(folder, 'nats-server')).find(existsSync);
}

/** On loopback, with JetStream. */
export async function startNats(/** @type {string} */ command) {
  const folder = makeFolder();
  const port = await freePort();
  const file = join(folder, 'nats.conf');
  const store = `jetstream: {store_dir: ${JSON.stringify(join(folder, 'store'))}, max_memory_store: 64MB}`;
  writeFileSync(file, `listen: "127.0.0.1:${port}"\n${store}\n`);
  const server = start(command, ['-c', file, '-l', join(folder, 'log')], { stdio: 'ignore' });
  await until('the start of nats-server', () => isOpen(port));
  const url = `nats://127.0.0.1:${port}`;
  const echo = start(process.execPath, [ECHO_SERVICE, url], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(/** @type {import('node:stream').Readable} */ (echo.stdout), 'data');
  return {
    url,
    async close() {
      await end(echo);
      await end(server, 'SIGKILL');
      removeFolder(folder);
    },
  };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/** It says its INFO. */
function isOpen(/** @type {number} */ port) {
  return new Promise((/** @type {(isSo: boolean) => void} */ resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
