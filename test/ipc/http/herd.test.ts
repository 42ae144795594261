import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { config, server } from '../../faults/config.js';
import { startHerd, until } from '../../support/herd.js';
import { type Address, ask, HttpClient, type Json } from './support.js';

async function start(...servers: Parameters<typeof config>[0]) {
  const herd = await startHerd(config(servers));
  const address: Address = { socketPath: herd.home.socket };
  return { ...herd, address };
}

const textOf = (reply: Json): string => reply.result.content[0].text;

describe('the herd over HTTP', () => {
  it('a session sees the servers of its agent file, and shared servers are one process', async () => {
    const { home, address } = await start(server('good', 'good.mjs'));
    const file = (name: string) => join(home.folder, `${name}.yaml`);
    for (const name of ['red', 'blue']) {
      const entry = { ...server(name, 'good.mjs'), type: 'mcp' };
      writeFileSync(file(name), `tools:\n  - ${JSON.stringify(entry)}\n`);
    }
    const open = async (agent?: string) => {
      const query = agent === undefined ? '' : `?agent=${encodeURIComponent(file(agent))}`;
      const client = new HttpClient(address, `/mcp${query}`);
      expect((await client.initialize()).status).toBe(200);
      const { result } = await client.request('tools/list');
      const servers = new Set(result.tools.map(({ name }: Json) => name.split('__')[0]));
      const pid = textOf(await client.request('tools/call', { name: 'good__pid', arguments: {} }));
      return { servers: [...servers].sort(), pid };
    };
    const [red, blue, none] = [await open('red'), await open('blue'), await open()];
    expect([red.servers, blue.servers, none.servers]).toEqual([['good', 'red'], ['blue', 'good'], ['good']]);
    expect(new Set([red.pid, blue.pid, none.pid]).size).toBe(1);
    const missing = await new HttpClient(address, '/mcp?agent=/nowhere/agent.yaml').initialize();
    expect(missing.status).toBe(400);
    expect(missing.json().error.message).toContain('/nowhere/agent.yaml');
  });

  it('20 sessions with the same ids get each reply once, and only their own', async () => {
    const { address } = await start(server('good', 'good.mjs'));
    const clients = Array.from({ length: 20 }, () => new HttpClient(address, '/s/good/mcp'));
    await Promise.all(clients.map((client) => client.initialize()));
    const calls = clients.flatMap((client, one) =>
      Array.from({ length: 20 }, async (_, id) => {
        const value = `${one}/${id}`;
        const reply = await client.request('tools/call', { name: 'echo', arguments: { value } }, id);
        return reply.id === id && textOf(reply) === value;
      }),
    );
    expect((await Promise.all(calls)).filter(Boolean)).toHaveLength(400);
  });

  it('a client of 2026-07-28 with many requests in flight lets another client have the next turn', async () => {
    const { address } = await start(server('good', 'good.mjs', { max_in_flight: 1 }));
    const answered: string[] = [];
    // the response begins after a second, when the request waits for the server
    const call = async (client: string, tool: string) => {
      const meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: client, version: '1' },
      };
      const params = { name: tool, arguments: { value: client }, _meta: meta };
      const own = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': tool };
      const events = await new HttpClient(address, '/s/good/mcp', own).stream('tools/call', params);
      void events.ended.then(() => answered.push(client));
      return events;
    };
    const first = await call('many', 'wait');
    const many = await Promise.all(Array.from({ length: 20 }, () => call('many', 'echo')));
    const one = await call('one', 'echo');
    first.response.destroy();
    await Promise.all([...many, one].map(({ ended }) => ended));
    expect(textOf(one.messages[0])).toBe('one');
    // the request that was cancelled, one of the other client, and what the client reads out of order
    expect(answered.indexOf('one')).toBeLessThan(10);
  });

  it('a large result arrives complete', async () => {
    const { address } = await start(server('content', 'good.mjs'));
    const client = new HttpClient(address, '/s/content/mcp');
    await client.initialize();
    const value = 'ä"\\\n'.repeat(400_000);
    const reply = await client.request('tools/call', { name: 'echo', arguments: { value } });
    expect(textOf(reply) === value).toBe(true);
  });

  it('when the daemon ends, open streams end', async () => {
    const { address, daemon, status } = await start(server('good', 'good.mjs'));
    const client = new HttpClient(address);
    await client.initialize();
    const general = await client.listen();
    const call = client.stream('tools/call', { name: 'good__wait', arguments: {} });
    await until(async () => (await status('good')).in_flight === 1);
    daemon.kill('SIGTERM');
    const [reply] = await Promise.allSettled([call.then((events) => events.ended), general.ended]);
    expect(reply.status).toBe('fulfilled');
    await until(() =>
      ask(address, '/health').then(
        () => false,
        () => true,
      ),
    );
  });
});
