// mcp-hub: one process that serves MCP over HTTP for a list of servers. It starts them with itself.
import { get } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { install } from '../../scripts/shared/install.mjs';
import { end, environment, makeFolder, removeFolder, start } from '../children.mjs';
import { until } from '../patience.mjs';
import { namesIn, writeServersConfig } from '../systems/servers.mjs';

export function findHub() {
  const { folder, version } = install('mcp-hub@4.2.1', { folder: 'bench/mcp-hub', env: environment });
  const cli = join(folder, 'node_modules/mcp-hub/dist/cli.js');

  async function launch(/** @type {Bench.Commands} */ wanted) {
    const home = makeFolder();
    const config = writeServersConfig(home, wanted);
    const port = await freePort();
    const env = {
      ...environment,
      HOME: home,
      XDG_STATE_HOME: home,
      XDG_CONFIG_HOME: home,
      XDG_DATA_HOME: home,
    };
    const args = [cli, '--port', String(port), '--config', config];
    const child = start(process.execPath, args, { cwd: home, env, stdio: 'ignore' });
    await until('the start of mcp-hub', async () => {
      const { servers } = JSON.parse(await fetched(`http://localhost:${port}/api/servers`));
      return (
        servers.filter((/** @type {{ status: any }} */ { status }) => status === 'connected').length ===
        namesIn(wanted).length
      );
    });
    return {
      pid: child.pid,
      transport: { kind: 'mcp-hub', url: `http://localhost:${port}/mcp` },
      async close() {
        await end(child);
        removeFolder(home);
      },
    };
  }

  return {
    name: 'mcp-hub',
    version,
    start: launch,
    async startTime(/** @type {Bench.Commands} */ wanted) {
      const begun = performance.now();
      const system = await launch(wanted);
      const ms = performance.now() - begun;
      await system.close();
      return ms;
    },
  };
}

function fetched(/** @type {string} */ url) {
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve(text));
    }).on('error', reject);
  });
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}
