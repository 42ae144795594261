// isolated: measures the memory of its process
import { spawn } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeFleet, resultOf } from '../fake-fleet.js';
import { FakeClock, type Json, later, RawClient, serve } from '../support.js';

const MIB = 2 ** 20;

async function stillServes(path: string): Promise<void> {
  const client = await RawClient.open(path);
  expect(await client.answer('fleet/status')).toMatchObject({ result: { servers: [{}, {}] } });
}

describe('a hostile client', () => {
  it('that sends 256 MiB without a newline gets one error, and memory stays flat (S8)', async () => {
    const { path } = await serve(new FakeFleet());
    const client = await RawClient.open(path);
    const chunk = Buffer.alloc(65_536, 'x');
    const memory = () => process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
    const before = memory();
    let most = 0;
    for (let at = 0; at < 4096; at += 1) {
      await client.write(chunk);
      if (at % 16 === 0) most = Math.max(most, memory() - before);
    }
    await client.write('\n{"jsonrpc":"2.0","id":1,"method":"fleet/tools"}\n');
    expect(await client.next()).toMatchObject({ id: null, error: { code: -32600 } });
    expect(await client.next()).toMatchObject({ id: 1, result: {} });
    expect(most).toBeLessThan(100 * MIB);
  });

  it('that sends a request byte by byte is answered (S8)', async () => {
    const { path } = await serve(new FakeFleet());
    const client = await RawClient.open(path);
    for (const byte of Buffer.from('{"jsonrpc":"2.0","id":"ä","method":"fleet/tools"}\r\n')) {
      await client.write(Buffer.from([byte]));
    }
    expect(await client.next()).toMatchObject({ id: 'ä', result: {} });
  });

  it('that sends binary, deep JSON and nonsense gets one error per line (S8)', async () => {
    const { path, server } = await serve(new FakeFleet());
    const client = await RawClient.open(path);
    const binary = Buffer.from(Array.from({ length: 256 }, (_, at) => (at === 10 ? 0 : at)));
    const deep = (open: string, close: string) => Buffer.from(open.repeat(100_000) + close.repeat(100_000));
    const bad = [
      binary,
      deep('[', ']'),
      deep('{"a":', '}'),
      Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"fleet/call","params":${deep('[', ']')}}`),
      Buffer.from('"just a string"'),
      Buffer.from('NaN'),
      Buffer.from('\u0000'),
      Buffer.from('GET / HTTQ'),
    ];
    for (const line of bad) {
      await client.write(Buffer.concat([line, Buffer.from('\n')]));
      expect(await client.next()).toMatchObject({ error: { code: expect.any(Number) } });
    }
    expect(await client.answer('fleet/status')).toMatchObject({ id: 'answer', result: {} });
    expect(server.connections.size).toBe(1);
  });

  it('that dies during a call: the call is cancelled, and the connection is removed (S9)', async () => {
    const fleet = new FakeFleet();
    // the clock stands still: no client is probed
    const { path, server } = await serve(fleet, { clock: new FakeClock() });
    const [begun, cancelled] = [later(), later()];
    fleet.onCall = (params, { onCancel }) => {
      begun.resolve();
      return new Promise((resolve) =>
        onCancel?.(() => {
          cancelled.resolve();
          resolve(resultOf(params, 'no client gets this'));
        }),
      );
    };
    const line = '{"jsonrpc":"2.0","id":1,"method":"fleet/call","params":{"server":"a","tool":"t"}}\n';
    const script = `require('node:net').connect(${JSON.stringify(path)}).write(${JSON.stringify(line)})`;
    const child = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    await begun.promise;
    const [peer] = [...server.connections];
    child.kill('SIGKILL');
    await cancelled.promise;
    await peer?.closed;
    expect(server.connections.size).toBe(0);
    await stillServes(path);
  });

  it('that never reads is dropped at the caps; other clients are served (S7)', async () => {
    const clock = new FakeClock();
    const fleet = new FakeFleet();
    const { path, server } = await serve(fleet, { clock });
    fleet.onCall = async (params) => resultOf(params, 'x'.repeat(MIB));
    const deaf = await RawClient.open(path);
    deaf.socket.pause();
    const [peer] = [...server.connections];
    const call = { server: 'a', tool: 't' };
    for (let id = 0; id < 15; id += 1) deaf.ask(id, 'fleet/call', call);
    while ((peer?.queued ?? 0) < 14 * MIB) await new Promise(setImmediate);
    clock.advance(60_000);
    expect(server.connections.size).toBe(1);
    for (let id = 15; id < 20; id += 1) deaf.ask(id, 'fleet/call', call);
    while ((peer?.queued ?? 0) < 17 * MIB) await new Promise(setImmediate);
    await stillServes(path);
    clock.advance(5000);
    expect(await peer?.closed).toMatch(/bytes unread and took none for 5000 ms/);
    await stillServes(path);

    const greedy = await RawClient.open(path);
    greedy.socket.pause();
    const [other] = [...server.connections].slice(-1);
    for (let id = 0; id < 140; id += 1) greedy.ask(id, 'fleet/call', call);
    expect(await other?.closed).toMatch(/left 1[234]\d{7} bytes unread/);
    expect(other?.queued).toBe(0);
    await stillServes(path);
  });
});

describe('many clients', () => {
  it("clients with the same ids and tokens never get each other's messages (S10)", async () => {
    const fleet = new FakeFleet();
    const { path } = await serve(fleet);
    let pending: (() => void)[] = [];
    const settleSome = () => {
      // in another order than they came
      for (const settle of pending.splice(0).reverse()) settle();
    };
    fleet.onCall = async (params, { onProgress }) => {
      const of = params.arguments?.of;
      onProgress?.({ progress: 1, message: of });
      await new Promise<void>((resolve) => {
        if (pending.push(resolve) === 1) setImmediate(settleSome);
      });
      onProgress?.({ progress: 2, message: of });
      return resultOf(params, String(of));
    };
    const [connections, calls] = [50, 100];
    let crossed = 0;
    const run = async (name: string) => {
      const client = await RawClient.open(path);
      for (let id = 0; id < calls; id += 1) {
        const _meta = { progressToken: 1 };
        client.ask(id, 'fleet/call', { server: 'a', tool: 't', arguments: { of: `${name}/${id}` }, _meta });
      }
      const got = (await client.take(calls * 3)).map((line) => JSON.parse(line) as Json);
      const replies = got.filter((message) => 'id' in message);
      for (const { id, result } of replies) {
        const [block] = (result as { content: { text: string }[] }).content;
        if (block?.text !== `${name}/${id}`) crossed += 1;
      }
      for (const { params } of got.filter(({ method }) => method === 'notifications/progress')) {
        if (!String((params as Json).message).startsWith(`${name}/`)) crossed += 1;
      }
      expect(new Set(replies.map(({ id }) => id)).size).toBe(calls);
      expect(client.lines).toEqual([]);
    };
    await Promise.all(Array.from({ length: connections }, (_, at) => run(`client ${at}`)));
    expect(crossed).toBe(0);
    pending = [];
  });
});
