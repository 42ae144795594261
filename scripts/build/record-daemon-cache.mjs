// Records the daemon's code cache from a first use: it boots, starts two servers, lists their tools, calls one, and exits.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { cacheOf } from './compile-bundle.cjs';

const RECORD = join(import.meta.dirname, 'record-code-cache.cjs');
/** A first use that takes longer is killed. */
export const PATIENCE_MS = 30_000;

/** A minimal MCP server: initialize, tools/list, tools/call. */
const SERVER = `
const tools = [{ name: 't', inputSchema: { type: 'object', properties: {} } }];
const serverInfo = { name: 's', version: '1' };
const results = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo }),
  'tools/list': () => ({ tools }),
  'tools/call': () => ({ content: [{ type: 'text', text: '' }] }),
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = results[method]?.(params);
  const error = { code: -32601, message: 'no such method' };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) }));
});
`;

/** @param {string} file */
export async function recordDaemonCache(file) {
  const home = mkdtempSync(join(tmpdir(), 'toolherd-build-'));
  const socket = join(home, 'run', 'toolherd.sock');
  mkdirSync(join(home, 'run'), { mode: 0o700 });
  writeFileSync(join(home, 'server.cjs'), SERVER);
  const command = process.execPath;
  const servers = ['a', 'b'].map((name) => ({
    ...{ name, description: 'd', server: 's' },
    ...{ command, args: [join(home, 'server.cjs')] },
  }));
  const config = { version: '1.0', security: { allowed_commands: [command] }, mcp_servers: servers };
  writeFileSync(join(home, 'config.yaml'), JSON.stringify(config));
  const env = { ...process.env, TOOLHERD_HOME: home, TOOLHERD_SOCKET: '' };
  const child = spawn(command, [RECORD, file], {
    env,
    cwd: home,
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  const ready = /** @type {import('node:stream').Readable} */ (child.stdio[3]);
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  const exit = once(child, 'exit');
  const gone = exit.then(([status]) => {
    throw new Error(`the daemon ended with ${status} in its first use`);
  });
  gone.catch(() => {});
  try {
    let said = '';
    ready.setEncoding('utf8').on('data', (text) => (said += text));
    await once(ready, 'close');
    if (said === '' || JSON.parse(said).ready !== true)
      throw new Error(`the first use of the daemon failed: ${said}`);
    await Promise.race([use(socket), gone]);
    child.kill('SIGTERM');
    const [status] = await exit;
    if (status !== 0) throw new Error(`the first use of the daemon ended with ${status}`);
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
    rmSync(home, { recursive: true, force: true });
  }
  // src/bin/daemon.ts compares this hash
  const cache = cacheOf(file);
  const hash = createHash('sha1').update(process.versions.v8);
  appendFileSync(cache, hash.update(readFileSync(cache)).update(readFileSync(file)).digest());
}

/** @param {string} path */
async function use(path) {
  const socket = connect(path);
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  /** @type {(id: number, method: string, params?: object) => Promise<any>} */
  const ask = async (id, method, params) => {
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error('the daemon ended in its first use');
      const reply = JSON.parse(value);
      if (reply.id !== id) continue;
      if (reply.error) throw new Error(`the first use of the daemon failed: ${JSON.stringify(reply.error)}`);
      return reply.result;
    }
  };
  const clientInfo = { name: 'build', version: '1' };
  await ask(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  await ask(2, 'fleet/start', { all: true, wait: true });
  const { tools } = await ask(3, 'tools/list');
  await ask(4, 'tools/call', { name: tools[0].name, arguments: {} });
  await ask(5, 'fleet/status');
  socket.destroy();
}
