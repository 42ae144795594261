import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../../support/until.js';
import { serveHttp } from './served.js';
import { BOTH, HttpClient } from './support.js';

const CALL = { name: 'a__t', arguments: {} };

async function open() {
  const served = await serveHttp();
  const client = new HttpClient(served.at);
  await client.initialize();
  const socket = connect(served.path);
  onTestFinished(() => void socket.destroy());
  let heard = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    heard += text;
  });
  const request = (method: string, body = '') =>
    [
      `${method} /mcp HTTP/1.1`,
      'Host: x',
      `Accept: ${BOTH}`,
      'Content-Type: application/json',
      `Mcp-Session-Id: ${client.session}`,
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n');
  const call = (id: number) =>
    request('POST', JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: CALL }));
  return { ...served, client, socket, request, call, heard: () => heard };
}

it('pipelined requests are answered in order, each once', async () => {
  const { fleet, socket, call, heard } = await open();
  socket.write(call(1) + call(2));
  for (const at of [0, 1]) {
    const held = await until(() => fleet.held[at]);
    held.answer({ content: [], at });
  }
  await until(() => heard().split('HTTP/1.1 200').length === 3);
  expect(heard().match(/"at":\d/g)).toEqual(['"at":0', '"at":1']);
});

it('S9: when a client disconnects, all its calls are cancelled, also pipelined ones', async () => {
  const { fleet, socket, call, httpServer } = await open();
  socket.write(call(1) + call(2));
  await until(() => fleet.held.length > 0);
  socket.destroy();
  await until(() => fleet.held.every(({ context }) => context.signal?.aborted));
  expect(httpServer.sessions).toBe(1);
});

it('a call that is pipelined behind an open stream ends with its connection', async () => {
  const { fleet, socket, request, call, clock, client, httpServer } = await open();
  socket.write(request('GET') + call(1));
  const other = new HttpClient(client.address);
  await other.initialize();
  socket.destroy();
  await until(() => fleet.held.every(({ context }) => context.signal?.aborted));
  await other.end();
  clock.advance(40 * 60_000);
  expect(httpServer.sessions).toBe(0);
});
