// A daemon of the build under test, in a new home folder.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { end, environment, makeFolder, removeFolder, start } from '../children.mjs';
import { connectLines } from '../transports/lines.mjs';
import { ECHO } from './servers.mjs';

export const dist = () => process.env.TOOLHERD_BENCH_DIST ?? join(import.meta.dirname, '..', '..', 'dist');
export const COMMAND = () => join(dist(), 'bin', 'main.cjs');

const entry = (/** @type {string} */ name, more = {}) => ({
  name,
  description: 'for the benchmark',
  server: 'bench-echo',
  command: ECHO[0],
  args: ECHO.slice(1),
  start: 'eager',
  ...more,
});

/**
 * @param {Bench.Servers} servers names, or names with what else stands in their entries
 * @param {{ folder?: string, variables?: object, config?: object }} [options] a folder that had a herd before; variables
 *   of the daemon; what else stands in its config
 */
export function makeHerd(servers, { folder = makeFolder(), variables = {}, config: more = {} } = {}) {
  const home = join(folder, 'home');
  const entries = Array.isArray(servers)
    ? servers.map((name) => entry(name))
    : Object.entries(servers).map(([name, more]) => entry(name, more));
  const config = { version: '1.0', security: { allowed_commands: [ECHO[0]] }, mcp_servers: entries, ...more };
  writeFileSync(join(home, 'config.yaml'), JSON.stringify(config));
  const path = join(home, 'run', 'toolherd.sock');
  const env = { ...environment, TOOLHERD_HOME: home, ...variables };
  return {
    folder,
    path,
    env,
    /** Starts the daemon, and resolves when it serves. */
    async up(/** @type {{ node?: any, channel?: any }} */ { node = [], channel = false } = {}) {
      const stdio = ['ignore', 'ignore', 'inherit', 'pipe', ...(channel ? ['ipc'] : [])];
      const child = start(process.execPath, [...node, join(dist(), 'bin', 'daemon.cjs')], {
        cwd: folder,
        env,
        stdio,
      });
      const pipe = /** @type {import('node:stream').Readable} */ (child.stdio[3]);
      let said = '';
      pipe.setEncoding('utf8').on('data', (/** @type {string} */ text) => (said += text));
      await once(pipe, 'close');
      if (said === '' || JSON.parse(said).ready !== true)
        throw new Error(`the daemon did not start: ${said}`);
      return { pid: child.pid ?? 0, child, down: () => end(child) };
    },
    /** @satisfies {Record<string, Bench.TransportOptions>} */
    transports: {
      mcp: { kind: 'socket', path },
      fleet: { kind: 'socket', path, speaks: 'fleet' },
      library: { kind: 'library', path, module: join(dist(), 'client.js') },
      bridge: { kind: 'sdk', bridge: [process.execPath, COMMAND(), 'bridge'], env },
    },
    remove: () => removeFolder(folder),
  };
}

/**
 * A daemon whose servers are all up.
 * @param {Bench.Servers} servers
 * @param {{ node?: string[], channel?: boolean, config?: object }} [options]
 */
export async function startToolherd(servers, options = {}) {
  const herd = makeHerd(servers, options.config === undefined ? {} : { config: options.config });
  const daemon = await herd.up(options);
  const { lines, socket } = await connectLines(herd.path);
  await lines.request('fleet/start', { all: true, wait: true });
  socket.destroy();
  return {
    ...herd,
    ...daemon,
    async close() {
      await daemon.down();
      herd.remove();
    },
  };
}
