import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { Bridge } from '../../../src/cli/bridge/bridge.js';
import { config, server } from '../../faults/config.js';
import { toolherd } from '../../support/command.js';
import { makeFolder } from '../../support/folder.js';
import { makeHome, until } from '../../support/herd.js';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

it('a line that comes during a look which may start nothing waits for one which may', async () => {
  const path = join(makeFolder({}), 's');
  const heard: string[] = [];
  const daemon = createServer((socket) =>
    socket.on('data', (chunk) => {
      heard.push(chunk.toString());
      socket.write('{"jsonrpc":"2.0","id":1,"result":{}}\n');
    }),
  ).listen(path);
  await once(daemon, 'listening');
  onTestFinished(() => void daemon.close());
  const dial = async (): Promise<Socket> => {
    const socket = connect(path);
    await once(socket, 'connect');
    return socket;
  };
  const input = new PassThrough();
  const output = new PassThrough();
  const looks: boolean[] = [];
  const open = async (start: boolean) => {
    looks.push(start);
    if (looks.length > 1) return dial();
    input.write(PING);
    await until(() => input.isPaused());
    throw new Error('it has just gone');
  };
  const first = await dial();
  const done = new Bridge({ input, output, open, note: () => undefined }).run(first);
  first.destroy();
  const [reply] = await once(output, 'data');
  expect(JSON.parse(String(reply))).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  expect([looks, heard]).toEqual([[false, true], [PING]]);
  input.end();
  await done;
});

it('a daemon that goes between connection and hello counts as none: another is started', async () => {
  const home = makeHome(config([server('good', 'good.mjs')]));
  mkdirSync(dirname(home.socket), { recursive: true, mode: 0o700 });
  const dying = createServer((socket) => {
    socket.destroy();
    dying.close();
  }).listen(home.socket);
  await once(dying, 'listening');
  const { stdout, status } = await toolherd(['bridge'], {
    env: home.environment,
    cwd: home.folder,
    input: `${JSON.stringify(INITIALIZE)}\n`,
  });
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { serverInfo: { name: 'toolherd' } } });
  const up = await toolherd(['status', '--json'], { cwd: home.folder, env: home.environment });
  home.adopt((JSON.parse(up.stdout) as { daemon: { pid: number } }).daemon.pid);
});
