import { expect, it } from 'vitest';
import { connectFleet } from '../../../src/library/connect-fleet.js';
import { until } from '../../support/until.js';
import { FakeFleet } from '../fake-fleet.js';
import { later, RawClient, serve } from '../support.js';

const HELLO = { client: { name: 'test', version: '1' } };
const closingIn = ({ lines }: RawClient) =>
  lines.map((line) => JSON.parse(line)).filter(({ method }) => method === 'fleet/closing');

async function openThree(path: string) {
  const [asked, plain, mcp] = [
    await RawClient.open(path),
    await RawClient.open(path),
    await RawClient.open(path),
  ];
  await asked.answer('fleet/hello', { ...HELLO, closing_notice: true });
  await plain.answer('fleet/hello', HELLO);
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: HELLO.client };
  await mcp.answer('initialize', params);
  return { asked, plain, mcp };
}

it('a daemon that shuts down notifies connections that asked for it in their hello, and no others', async () => {
  const { path, server } = await serve(new FakeFleet());
  const { asked, plain, mcp } = await openThree(path);
  await (await RawClient.open(path)).answer('fleet/shutdown');
  await server.close();
  await Promise.all([asked, plain, mcp].map(({ closed }) => closed));
  expect(closingIn(asked)).toEqual([
    { jsonrpc: '2.0', method: 'fleet/closing', params: { reason: 'shutdown' } },
  ]);
  expect([closingIn(plain), closingIn(mcp)]).toEqual([[], []]);
});

it('a replaced daemon announces its successor, also after a shutdown order', async () => {
  const { path, server } = await serve(new FakeFleet());
  const { asked } = await openThree(path);
  const other = await RawClient.open(path);
  await other.answer('fleet/shutdown', { grace_ms: 5 });
  await other.answer('fleet/shutdown', { successor: 4711 });
  server.announce({ reason: 'shutdown' });
  await other.answer('fleet/shutdown');
  await server.close();
  await asked.closed;
  expect(closingIn(asked).map(({ params }) => params)).toEqual([
    { reason: 'shutdown' },
    { reason: 'replaced', successor: 4711 },
  ]);
});

it('a connection that opens while the daemon ends gets the notice after its hello', async () => {
  const { path, server } = await serve(new FakeFleet());
  server.announce({ reason: 'replaced', successor: 4711 });
  const late = await RawClient.open(path);
  const { result } = await late.answer('fleet/hello', { ...HELLO, closing_notice: true });
  expect(result).toMatchObject({ api_version: 1 });
  await server.close();
  await late.closed;
  expect(closingIn(late)).toHaveLength(1);
});

it('hello to a daemon that ends opens no agent view, looks for no server, and returns the reason', async () => {
  const fleet = new FakeFleet();
  const { path, server } = await serve(fleet);
  server.announce({ reason: 'shutdown' });
  const client = await RawClient.open(path);
  const { result, error } = await client.answer('fleet/hello', {
    ...HELLO,
    agent: '/a/agent.yaml',
    server: 'a',
  });
  expect(error).toBeUndefined();
  expect(result).toMatchObject({ agent: null, daemon: { closing: { reason: 'shutdown' } } });
  expect(fleet.heard).toEqual([]);
});

it('the library gets no connection for an agent file from a daemon that ends', async () => {
  const { path, server } = await serve(new FakeFleet());
  server.announce({ reason: 'shutdown' });
  await expect(connectFleet({ socket: path, agent: '/a/agent.yaml' })).rejects.toMatchObject({
    type: 'ServerUnavailableError',
    message: 'the daemon is shutting down',
    retryable: true,
  });
  (await connectFleet({ socket: path })).close();
  await until(() => server.connections.size === 0);
});

it('a hello whose view is being opened when the daemon begins to end is answered with the reason', async () => {
  const [asked, held] = [later(), later()];
  const fleet = new FakeFleet();
  fleet.status = async () => {
    asked.resolve();
    await held.promise;
    throw new Error('the daemon is shutting down');
  };
  const { path, server } = await serve(fleet);
  const client = await RawClient.open(path);
  client.ask('early', 'fleet/hello', { ...HELLO, server: 'a' });
  await asked.promise;
  server.announce({ reason: 'shutdown' });
  held.resolve();
  expect(await client.next()).toMatchObject({ result: { daemon: { closing: { reason: 'shutdown' } } } });
});

it('a successor that is no pid is refused, and nothing is shut down', async () => {
  const fleet = new FakeFleet();
  const { path } = await serve(fleet);
  const client = await RawClient.open(path);
  for (const successor of [0, -1, 1.5, '12', true]) {
    const { error } = await client.answer('fleet/shutdown', { successor });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("'successor'") });
  }
  const { result } = await (await RawClient.open(path)).answer('fleet/hello', HELLO);
  expect(result).toMatchObject({ daemon: { closing: null } });
  expect(fleet.heard.filter(([method]) => method === 'shutdown')).toEqual([]);
});
