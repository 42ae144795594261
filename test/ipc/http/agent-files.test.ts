import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { agentFile } from '../../daemon/views/support.js';
import { command, config, server } from '../../faults/config.js';
import { toolherd } from '../../support/command.js';
import { makeFolder } from '../../support/folder.js';
import { startHerd, until } from '../../support/herd.js';
import { LineClient } from '../mcp/support.js';
import { type Address, HttpClient, type Json } from './support.js';

const MODERN = '2026-07-28';

/** A daemon with HTTP on a port that needs no token: every user of the machine is its client. */
async function start(security: Record<string, unknown> = {}) {
  const text = config([server('good', 'good.mjs', { result_limit: 20 })], {
    http: { listen: '127.0.0.1:0', token: 'none' },
  });
  const more = Object.entries(security).map(([key, value]) => `, ${key}: ${JSON.stringify(value)}`);
  const herd = await startHerd(text.replace(/^(security: .*)\}$/m, `$1${more.join('')}}`));
  const { url } = (await herd.fleet.status()).daemon.http ?? {};
  const port: Address = { host: '127.0.0.1', port: Number(new URL(url ?? '').port) };
  const socket: Address = { socketPath: herd.home.socket };
  const allow = async (file: string) => {
    const { folder: cwd, environment: env } = herd.home;
    expect((await toolherd(['allow', file, '--yes'], { cwd, env })).status).toBe(0);
  };
  return { ...herd, port, socket, allow };
}

const at = (address: Address, agent: string) =>
  new HttpClient(address, `/mcp?agent=${encodeURIComponent(agent)}`);
const open = (address: Address, agent: string) => at(address, agent).initialize();

/** One request of 2026-07-28, which has no session. */
const listOnce = (address: Address, agent: string) => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const headers = { 'MCP-Protocol-Version': MODERN, 'Mcp-Method': 'tools/list' };
  return at(address, agent).post(
    { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } },
    headers,
  );
};

/** An agent file whose only server leaves a mark when it is started. */
function markedAgent(mark: string): string {
  const program = `require('fs').writeFileSync(${JSON.stringify(mark)}, 'ran')`;
  return agentFile([
    command('evil', process.execPath, ['-e', program], { start: 'eager', restart: 'never' }),
  ]);
}

/** Has a tool give back a text of the client's choice, which is kept in a file because it is long. */
async function keepResult(address: Address, text: string): Promise<string> {
  const client = new HttpClient(address);
  await client.initialize();
  const { result } = await client.request('tools/call', { name: 'good__echo', arguments: { value: text } });
  const link = result.content.find(({ type }: Json) => type === 'resource_link');
  return fileURLToPath(link.uri);
}

describe('a tool result that is stored in a file', () => {
  it('is not accepted as an agent file: over the port, over HTTP on the socket, or by fleet/hello', async () => {
    const { port, socket, home } = await start();
    const mark = join(makeFolder(), 'mark');
    const kept = await keepResult(port, markedAgent(mark));
    expect(dirname(kept)).toBe(join(home.folder, 'state', 'results'));
    for (const address of [port, socket]) {
      for (const agent of [
        kept,
        join(home.folder, 'run', '..', 'state', 'results', kept.slice(dirname(kept).length)),
      ]) {
        const { status, text } = await open(address, agent);
        expect(text).toContain('TrustRequiredError');
        expect(status).toBe(403);
        expect((await listOnce(address, agent)).status).toBe(403);
      }
    }
    const lines = new LineClient(home.socket);
    const reply = await lines.ask('hello', 'fleet/hello', { agent: kept });
    expect(reply.error?.message).toBe(`${kept} was never allowed to run`);
    expect(existsSync(mark)).toBe(false);
  });
});

describe("a file beside the user's config.yaml", () => {
  it('is trusted on the socket; a file in a subfolder and a link to another file are not', async () => {
    const { socket, home } = await start();
    const text = agentFile([server('mine', 'good.mjs')]);
    const beside = join(home.folder, 'mine.yaml');
    writeFileSync(beside, text);
    expect((await open(socket, beside)).status).toBe(200);
    const elsewhere = join(makeFolder({ 'agent.yaml': text }), 'agent.yaml');
    const link = join(home.folder, 'link.yaml');
    symlinkSync(elsewhere, link);
    mkdirSync(join(home.folder, 'agents'));
    const below = join(home.folder, 'agents', 'agent.yaml');
    writeFileSync(below, text);
    for (const agent of [link, below, elsewhere]) expect((await open(socket, agent)).status).toBe(403);
  });
});

describe('over the port an agent file must be in the trust store', () => {
  it.each([
    ['ask', {}],
    ['all', { trust: 'all' }],
  ])('an agent file beside config.yaml must be allowed too (security.trust: %s)', async (_, security) => {
    const { port, socket, home, allow } = await start(security);
    const file = join(home.folder, 'mine.yaml');
    const text = agentFile([server('mine', 'good.mjs')]);
    writeFileSync(file, text);
    expect((await open(socket, file)).status).toBe(200);
    const refused = await open(port, file);
    expect(refused.status).toBe(403);
    expect(refused.json().error.message).toContain(`toolherd allow ${file}`);
    await allow(file);
    const client = at(port, file);
    expect((await client.initialize()).status).toBe(200);
    const { result } = await client.request('tools/list');
    expect(result.tools.map(({ name }: Json) => name)).toContain('mine__echo');
    expect((await listOnce(port, file)).status).toBe(200);
    writeFileSync(file, `${text}#\n`);
    expect((await open(port, file)).text).toBe(refused.text);
    expect((await listOnce(port, file)).status).toBe(403);
  });

  it.each([
    ['ask', {}],
    ['all', { trust: 'all' }],
  ])(
    'an open session does not use a server added later, and revoke ends its servers (security.trust: %s)',
    async (_, security) => {
      const { port, socket, home, allow, fleet } = await start(security);
      const file = join(home.folder, 'mine.yaml');
      writeFileSync(file, agentFile([server('mine', 'good.mjs')]));
      await allow(file);
      const [there, here] = [at(port, file), at(socket, file)];
      for (const client of [there, here]) expect((await client.initialize()).status).toBe(200);
      const call = async (client: HttpClient, name: string) =>
        (await client.request('tools/call', { name, arguments: {} })).result;
      expect((await call(there, 'mine__pid')).isError).toBeUndefined();
      writeFileSync(file, agentFile([server('mine', 'good.mjs'), server('added', 'good.mjs')]));
      await fleet.reload();
      // on the socket it is the user's own file, or every file is allowed
      expect((await call(here, 'added__pid')).isError).toBeUndefined();
      expect((await there.request('tools/call', { name: 'added__pid', arguments: {} })).error).toBeDefined();
      const { folder: cwd, environment: env } = home;
      expect((await toolherd(['revoke', file], { cwd, env })).status).toBe(0);
      await until(async () => (await call(there, 'mine__pid')).isError === true);
      expect((await call(here, 'mine__pid')).isError).toBeUndefined();
    },
  );

  it('a file behind a linked folder must be allowed too; a session id of the socket does not help', async () => {
    const { port, socket, home, allow } = await start();
    const file = join(makeFolder({ 'agent.yaml': agentFile([server('mine', 'good.mjs')]) }), 'agent.yaml');
    const link = join(makeFolder(), 'link');
    symlinkSync(dirname(file), link);
    expect((await open(port, join(link, 'agent.yaml'))).status).toBe(403);
    await allow(file);
    expect((await open(port, join(link, 'agent.yaml'))).status).toBe(200);
    const own = join(home.folder, 'own.yaml');
    writeFileSync(own, agentFile([server('own', 'good.mjs')]));
    const [here, there] = [at(socket, own), at(port, own)];
    expect((await here.initialize()).status).toBe(200);
    there.session = here.session;
    expect((await there.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).status).toBe(404);
  });

  it('the refusal does not reveal whether a path exists or what it holds', async () => {
    const { port } = await start();
    const folder = makeFolder({
      'agent.yaml': agentFile([server('a', 'good.mjs')]),
      'nothing.yaml': 'tools: []\n',
      'broken.yaml': 'tools: [{name: 1, secret_key: x\n',
      'locked.yaml': 'tools: []\n',
    });
    chmodSync(join(folder, 'locked.yaml'), 0);
    const paths = [
      'agent.yaml',
      'nothing.yaml',
      'broken.yaml',
      'locked.yaml',
      'missing.yaml',
      'no/such/folder',
      '.',
    ]
      .map((name) => (name === '.' ? folder : join(folder, name)))
      .concat('/etc/passwd', '/dev/zero', '/proc/1/environ');
    const said = await Promise.all(
      paths.map(async (path) => {
        const { status, text } = await open(port, path);
        return `${status} ${text.replaceAll(path, 'FILE')}`;
      }),
    );
    expect(new Set(said).size).toBe(1);
    expect(said[0]).toMatch(/^403 .*toolherd allow FILE/);
  });
});
