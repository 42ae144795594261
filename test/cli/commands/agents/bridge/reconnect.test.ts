import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { Bridge } from '../../../../../src/cli/commands/agents/bridge/bridge.js';
import { config, server } from '../../../../faults/config.js';
import { toolherd } from '../../../../support/command.js';
import { makeFolder } from '../../../../support/folder.js';
import { makeHome, until } from '../../../../support/herd.js';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

it('a line that comes while the bridge only looks for a daemon waits until it may start one', async () => {
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
  const done = new Bridge({ input, output, open, hasSocket: () => true, note: () => undefined }).run(first);
  first.destroy();
  const [reply] = await once(output, 'data');
  expect(JSON.parse(String(reply))).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  expect([looks, heard]).toEqual([[false, true], [PING]]);
  input.end();
  await done;
});

/** Each connection stands for another daemon: its received lines, and its socket. */
async function daemons() {
  const path = join(makeFolder({}), 's');
  const heard: string[][] = [];
  const sockets: Socket[] = [];
  const listener = createServer((socket) => {
    const lines: string[] = [];
    heard.push(lines);
    sockets.push(socket);
    createInterface({ input: socket }).on('line', (line) => lines.push(line));
    socket.on('error', () => undefined);
  }).listen(path);
  await once(listener, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  const dial = async (): Promise<Socket> => {
    const socket = connect(path);
    await once(socket, 'connect');
    return socket;
  };
  const close = (at: number, params: object) =>
    sockets[at]!.end(`${JSON.stringify({ jsonrpc: '2.0', method: 'fleet/closing', params })}\n`);
  return { heard, sockets, dial, close };
}

const request = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call' });
const cancelled = (requestId: number) => ({
  ...{ jsonrpc: '2.0', method: 'notifications/cancelled' },
  params: { requestId },
});

it('requests and cancellations wait for the next daemon during a replacement; other messages go to the old one', async () => {
  const { heard, sockets, dial } = await daemons();
  const input = new PassThrough();
  const output = new PassThrough();
  const said: string[] = [];
  createInterface({ input: output }).on('line', (line) => said.push(line));
  const looks: boolean[] = [];
  const open = (start: boolean) => {
    looks.push(start);
    return dial();
  };
  const done = new Bridge({ input, output, open, hasSocket: () => true, note: () => undefined }).run(
    await dial(),
  );
  const say = (message: object) => input.write(`${JSON.stringify(message)}\n`);
  say(request(1));
  await until(() => heard[0]?.length === 1);
  const closing = {
    jsonrpc: '2.0',
    method: 'fleet/closing',
    params: { reason: 'replaced', successor: process.pid },
  };
  // behind it a line that the client gets: then the bridge has read both
  sockets[0]!.write(`${JSON.stringify(closing)}\n{"jsonrpc":"2.0","method":"notifications/x"}\n`);
  await until(() => said.length === 1);
  for (const message of [request(2), cancelled(2), cancelled(1), request(3)]) say(message);
  await until(() => heard[0]?.length === 2);
  expect(heard[0]?.map((line) => JSON.parse(line))).toEqual([request(1), cancelled(1)]);
  sockets[0]!.end();
  await until(() => heard[1]?.length === 3);
  expect(heard[1]?.map((line) => JSON.parse(line))).toEqual([request(2), cancelled(2), request(3)]);
  expect(looks).toEqual([false]);
  // nothing of it is for the client
  expect(said).toEqual(['{"jsonrpc":"2.0","method":"notifications/x"}']);
  input.end();
  sockets[1]!.end('{"jsonrpc":"2.0","id":3,"result":{}}\n');
  await done;
});

it.each([
  { end: 'that was announced', closing: { reason: 'shutdown' as const }, hasSocket: true },
  { end: 'whose notice is lost, and which has removed its socket', closing: undefined, hasSocket: false },
])('after a shutdown $end a request starts no daemon, and is refused until one serves', async (ended) => {
  const { heard, sockets, dial, close } = await daemons();
  const input = new PassThrough();
  const output = new PassThrough();
  const said: string[] = [];
  createInterface({ input: output }).on('line', (line) => said.push(line));
  const looks: boolean[] = [];
  let isServed = false;
  const open = async (start: boolean) => {
    looks.push(start);
    if (isServed) return dial();
    throw Object.assign(new Error('no daemon is running'), { type: 'DaemonNotRunningError' });
  };
  const done = new Bridge({
    input,
    output,
    open,
    hasSocket: () => ended.hasSocket,
    note: () => undefined,
  }).run(await dial());
  await until(() => heard.length === 1);
  if (ended.closing === undefined) sockets[0]!.destroy();
  else close(0, ended.closing);
  await until(() => looks.length > 0);
  input.write(`${JSON.stringify(request(1))}\n`);
  await until(() => said.length === 1);
  expect(JSON.parse(said[0]!)).toMatchObject({
    id: 1,
    error: {
      message:
        "tools/call was not sent, because the toolherd daemon was stopped ('toolherd down', or a signal); start it with: toolherd up",
      data: { type: 'DaemonNotRunningError', retryable: true, sent: false },
    },
  });
  isServed = true;
  input.write(`${JSON.stringify(request(2))}\n`);
  await until(() => heard[1]?.length === 1);
  expect(new Set(looks)).toEqual(new Set([false]));
  input.end();
  await done;
});

it('a daemon that ends between connection and hello counts as absent: another is started', async () => {
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
