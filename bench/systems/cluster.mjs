// Three daemons and a nats-server on this machine: nodes of one cluster.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { end, makeFolder, removeFolder, start } from '../children.mjs';
import { connectLines } from '../transports/lines.mjs';
import { makeHerd } from './toolherd.mjs';

const ECHO = join(import.meta.dirname, '..', 'nats-echo.mjs');
const PROGRAMS = ['nats-server', '/usr/sbin/nats-server', '/usr/local/bin/nats-server'];
const JOIN_MS = 60_000;

/** The command; undefined where it is not installed. */
export function findNatsServer() {
  return PROGRAMS.find((program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0);
}

/**
 * @param {string} program nats-server
 * @param {Record<string, Bench.Servers>} nodes servers by node
 */
export async function startCluster(program, nodes) {
  const folder = makeFolder();
  const port = await freePort();
  const url = `nats://127.0.0.1:${port}`;
  const nats = start(program, ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', join(folder, 'nats')], {
    stdio: 'ignore',
  });
  const names = Object.keys(nodes);
  const echo = await startEcho(url);
  const herds = names.map((node) =>
    makeHerd(nodes[node], { cluster: { servers: [url], node, name: 'bench', share: ['*'] } }),
  );
  const daemons = await Promise.all(herds.map((herd) => herd.up()));
  const asked = await Promise.all(herds.map((herd) => connectLines(herd.path)));
  await Promise.all(asked.map(({ lines }) => lines.request('fleet/start', { all: true, wait: true })));
  await Promise.all(asked.map(({ lines }) => joined(lines, names.length)));
  for (const { socket } of asked) socket.destroy();
  return {
    url,
    /** By node. */
    herds: Object.fromEntries(names.map((node, at) => [node, herds[at]])),
    async close() {
      await Promise.all(daemons.map((daemon) => daemon.down()));
      await Promise.all([end(echo), end(nats)]);
      for (const herd of herds) herd.remove();
      removeFolder(folder);
    },
  };
}

/** Every node sees all servers of the others running. */
async function joined(
  /** @type {import('../transports/lines.mjs').Lines} */ lines,
  /** @type {number} */ count,
) {
  for (const deadline = performance.now() + JOIN_MS; ; ) {
    const { nodes } = await lines.request('fleet/cluster');
    const isReady = nodes.every(
      (/** @type {{ state: string, servers: { state: string }[] }} */ { state, servers }) =>
        state === 'up' && servers.length > 0 && servers.every((server) => server.state === 'connected'),
    );
    if (nodes.length === count && isReady) return;
    if (performance.now() > deadline) throw new Error('the nodes do not see each other');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** It ends as long as there is no NATS server. */
async function startEcho(/** @type {string} */ url) {
  for (let tries = 1; ; tries += 1) {
    const child = start(process.execPath, [ECHO, url], { stdio: ['ignore', 'pipe', 'ignore'] });
    const output = /** @type {import('node:stream').Readable} */ (child.stdout);
    const isUp = await Promise.race([
      once(output, 'data').then(() => true),
      once(child, 'exit').then(() => false),
    ]);
    if (isUp) return child;
    if (tries === 20) throw new Error('nats-server does not start');
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  return port;
}
