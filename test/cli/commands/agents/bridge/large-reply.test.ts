import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { Bridge } from '../../../../../src/cli/commands/agents/bridge/bridge.js';
import { makeFolder } from '../../../../support/folder.js';
import { until } from '../../../../support/until.js';

const request = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"tools/call"}\n`;
const reply = (id: number) => `{"jsonrpc":"2.0","id":${id},"result":{"text":"${'x'.repeat(5_000_000)}"}}\n`;

/** Daemons that live for one connection each; each acts on its first line. */
async function daemons(...answers: ((socket: Socket) => void)[]) {
  const path = join(makeFolder({}), 's');
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const answer = answers[sockets.push(socket) - 1];
    socket.on('error', () => undefined).once('data', () => answer?.(socket));
  }).listen(path);
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return async () => {
    const socket = connect(path);
    await once(socket, 'connect');
    return socket;
  };
}

it('when a daemon dies during a large reply, the client gets an error and no part of the reply', async () => {
  const half = (socket: Socket) => socket.write(reply(1).slice(0, 3_000_000), () => socket.destroy());
  const open = await daemons(half, (socket) => socket.write(reply(2)));
  const [input, output] = [new PassThrough(), new PassThrough()];
  let heard = '';
  output.on('data', (chunk) => {
    heard += chunk;
  });
  const done = new Bridge({ input, output, open, hasSocket: () => true, note: () => undefined }).run(
    await open(),
  );
  input.write(request(1));
  await until(() => heard.endsWith('\n'));
  expect(JSON.parse(heard)).toMatchObject({ id: 1, error: { data: { sent: true } } });
  heard = '';
  input.write(request(2));
  await until(() => heard.endsWith('\n'));
  expect(heard === reply(2)).toBe(true);
  input.destroy();
  void done;
});

it('a client that reads slowly gets a large reply complete, and the reply after it', async () => {
  const both = (socket: Socket) => socket.write(reply(1) + reply(2));
  const open = await daemons(both);
  const input = new PassThrough();
  const output = new PassThrough({ highWaterMark: 1024, readableHighWaterMark: 1024 });
  const done = new Bridge({ input, output, open, hasSocket: () => true, note: () => undefined }).run(
    await open(),
  );
  input.write(request(1) + request(2));
  let heard = '';
  for await (const chunk of output) {
    heard += chunk;
    if (heard.length === 2 * reply(1).length) break;
  }
  expect(heard === reply(1) + reply(2)).toBe(true);
  input.destroy();
  void done;
});
