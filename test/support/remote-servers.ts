import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killNow } from './processes.js';

const MODULES = join(import.meta.dirname, '..', '..', 'node_modules');
export const EVERYTHING = join(MODULES, '@modelcontextprotocol', 'server-everything', 'dist', 'index.js');
export const SUPERGATEWAY = join(MODULES, 'supergateway', 'dist', 'index.js');

export type Remote = 'http' | 'sse' | 'websocket';

/** A real remote server in its own process. It takes the same port when it is started again. */
export interface RemoteServer {
  url: string;
  port: number;
  start(): Promise<void>;
  /** At once, like a crash, together with its child processes. */
  kill(): Promise<void>;
}

/** server-everything, alone or (for WebSocket) behind supergateway. */
export async function everything(transport: Remote, port?: number): Promise<RemoteServer> {
  const at = port ?? (await freePort());
  let child: ChildProcess | undefined;
  const [words, path] = wordsFor(transport, at);
  const server: RemoteServer = {
    port: at,
    url: `${transport === 'websocket' ? 'ws' : 'http'}://127.0.0.1:${at}${path}`,
    async start() {
      child = spawn(process.execPath, words, {
        detached: true,
        stdio: 'ignore',
        env: { PATH: process.env.PATH ?? '', PORT: String(at) },
      });
      await listening(at);
    },
    async kill() {
      const dying = child;
      child = undefined;
      if (dying?.pid === undefined) return;
      const exited = once(dying, 'exit');
      const behind = childrenOf(dying.pid);
      process.kill(-dying.pid, 'SIGKILL');
      behind.forEach(killNow);
      await exited;
    },
  };
  await server.start();
  return server;
}

/** supergateway starts its server in another process group, and a busy server ignores that its input has ended. */
function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number) : [];
}

function wordsFor(transport: Remote, port: number): [string[], string] {
  if (transport === 'http') return [[EVERYTHING, 'streamableHttp'], '/mcp'];
  if (transport === 'sse') return [[EVERYTHING, 'sse'], '/sse'];
  const stdio = `exec ${process.execPath} ${EVERYTHING} stdio`;
  const options = ['--outputTransport', 'ws', '--port', String(port), '--logLevel', 'none'];
  return [[SUPERGATEWAY, '--stdio', stdio, ...options], '/message'];
}

/** Of the system's choice; free again when this returns, so that a server can take it. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function listening(port: number): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (performance.now() < deadline) {
    const isOpen = await fetch(`http://127.0.0.1:${port}/none`).then(
      async (response) => {
        await response.body?.cancel();
        return true;
      },
      () => false,
    );
    if (isOpen) return;
    await sleep(50);
  }
  throw new Error(`nothing listens at ${port}`);
}
