import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { makeFolder } from './folder.js';
import { freePort } from './remote-servers.js';
import { atEnd } from './share.js';
import { until } from './until.js';

const COMMANDS = ['nats-server', '/usr/sbin/nats-server', '/usr/local/bin/nats-server'];

function findCommand(): string | undefined {
  return COMMANDS.find((command) => {
    try {
      execFileSync(command, ['--version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

const found = findCommand();

/** Why there is no nats-server to test with; undefined: there is one. */
export function whyNoNatsServer(): string | undefined {
  return found === undefined
    ? 'nats-server is not installed (Debian: apt-get install nats-server)'
    : undefined;
}

/** A real nats-server on loopback. */
export interface NatsServer {
  url: string;
  port: number;
  folder: string;
  pid(): number;
  /** On the same port. */
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Stops and continues it: its connections hang and are not closed. */
  freeze(): void;
  thaw(): void;
}

export interface NatsServerOptions {
  jetStream?: boolean;
  /** Lines of its config. */
  config?: readonly string[];
}

export async function startNatsServer({
  jetStream = true,
  config = [],
}: NatsServerOptions = {}): Promise<NatsServer> {
  const folder = makeFolder();
  const port = await freePort();
  const file = join(folder, 'nats.conf');
  const store = `jetstream: {store_dir: ${JSON.stringify(join(folder, 'store'))}, max_memory_store: 64MB}`;
  writeFileSync(
    file,
    [`listen: "127.0.0.1:${port}"`, ...(jetStream ? [store] : []), ...config, ''].join('\n'),
  );
  let child: ChildProcess | undefined;
  const server: NatsServer = {
    url: `nats://127.0.0.1:${port}`,
    port,
    folder,
    pid: () => child?.pid ?? -1,
    async start() {
      child = spawn(found ?? 'nats-server', ['-c', file, '-l', join(folder, 'log')], { stdio: 'ignore' });
      await until(() => isOpen(port));
    },
    async kill() {
      const running = child;
      child = undefined;
      if (running === undefined || running.exitCode !== null) return;
      const exited = once(running, 'exit');
      running.kill('SIGKILL');
      await exited;
    },
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
  };
  atEnd(async () => {
    await server.kill();
    // it wrote until now
    rmSync(folder, { recursive: true, force: true });
  });
  await server.start();
  return server;
}

/** It says its INFO: a port that is only bound does not count. */
function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
