import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../../src/client.js';
import { config, server } from '../../faults/config.js';
import { toolherd } from '../../support/command.js';
import { makeHome, startHerd, until } from '../../support/herd.js';
import { type Address, ask, HttpClient, type Json } from './support.js';

const ANY = '127.0.0.1:0';
const TOKEN_FILE = ['state', 'http-token'];

async function start(http: Record<string, unknown>) {
  const herd = await startHerd(config([server('good', 'good.mjs')], { http }));
  const status = async () => (await herd.fleet.status()).daemon.http;
  const url = (await status())?.url;
  const port = Number(new URL(url ?? 'http://x:1').port);
  const address: Address = { host: '127.0.0.1', port };
  const token = () => readFileSync(join(herd.home.folder, ...TOKEN_FILE), 'utf8').trim();
  return { ...herd, status, url, port, address, token };
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

describe('HTTP on a port', () => {
  it('writes its token once, to a file of mode 0600, and to no log', async () => {
    const { home, daemon, address, token, url } = await start({ listen: ANY });
    expect(statSync(join(home.folder, ...TOKEN_FILE)).mode & 0o777).toBe(0o600);
    const before = token();
    expect(before).toMatch(/^[\w-]{43}$/);
    expect((await ask(address, '/health', { headers: bearer(before) })).json().status).toBe('ok');
    const log = readFileSync(join(home.folder, 'state', 'logs', 'daemon.log'), 'utf8');
    expect(log).toContain('http-token');
    expect(log).toContain(url);
    expect(log).not.toContain(before);
    daemon.kill('SIGTERM');
    await until(() =>
      ask(address, '/health').then(
        () => false,
        () => true,
      ),
    );
    await home.start();
    expect(token()).toBe(before);
  });

  it('admits a request by Host, Origin and token', async () => {
    const { address, port, token } = await start({ listen: ANY });
    const good = token();
    const own = `127.0.0.1:${port}`;
    const table: [Record<string, string>, number][] = [
      [{ Host: own, ...bearer(good) }, 200],
      [{ Host: `localhost:${port}`, ...bearer(good) }, 200],
      [{ Host: own, Authorization: `bearer ${good}` }, 200],
      [{ Host: own, ...bearer(good), Origin: `http://${own}` }, 200],
      [{ Host: own }, 401],
      [{ Host: own, ...bearer(`${good}x`) }, 401],
      [{ Host: own, ...bearer(good.slice(1)) }, 401],
      [{ Host: own, Authorization: good }, 401],
      [{ Host: own, Authorization: `Basic ${good}` }, 401],
      [{ Host: 'evil.example', ...bearer(good) }, 403],
      [{ Host: `evil.example:${port}`, ...bearer(good) }, 403],
      [{ Host: '127.0.0.1', ...bearer(good) }, 403],
      [{ Host: `127.0.0.1:${port + 1}`, ...bearer(good) }, 403],
      [{ Host: `localhost.evil.example:${port}`, ...bearer(good) }, 403],
      [{ Host: own, ...bearer(good), Origin: 'null' }, 403],
      [{ Host: own, ...bearer(good), Origin: `https://${own}` }, 403],
      [{ Host: own, ...bearer(good), Origin: 'http://127.0.0.1' }, 403],
      [{ Host: own, ...bearer(good), Origin: `http://localhost:${port}` }, 403],
      [{ Host: own, ...bearer(good), Origin: `http://${own}.evil.example` }, 403],
    ];
    const seen: Json[] = [];
    for (const [headers] of table) {
      const { status, json, headers: given } = await ask(address, '/health', { headers });
      seen.push([headers, status]);
      if (status !== 200) expect(json().error.message).toMatch(/; send /);
      if (status === 401) expect(given['www-authenticate']).toContain('Bearer');
      expect(JSON.stringify(json())).not.toContain(good);
      expect(given['access-control-allow-origin']).toBeUndefined();
    }
    expect(seen).toEqual(table);
  });

  it('a port with token: none still checks Host and Origin, and serves all of MCP', async () => {
    const { address, port } = await start({ listen: ANY, token: 'none' });
    expect((await ask(address, '/health', { headers: { Host: 'evil.example' } })).status).toBe(403);
    expect((await ask(address, '/health', { headers: { Origin: 'http://evil.example' } })).status).toBe(403);
    const client = new HttpClient({ host: 'localhost', port }, '/s/good/mcp');
    expect((await client.initialize()).status).toBe(200);
    const reply = await client.request('tools/call', { name: 'echo', arguments: { value: 'hi' } });
    expect(reply.result.content[0].text).toBe('hi');
  });

  it('reports a port in use in the status, and the socket is served', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await until(() => taken.listening);
    const { port } = taken.address() as { port: number };
    const { status, say, home } = await start({ listen: `127.0.0.1:${port}` });
    expect(await status()).toEqual({ url: null, error: expect.stringContaining(`port ${port}`) });
    const shown = await toolherd(['status'], { cwd: home.folder, env: home.environment });
    expect(shown.stderr).toContain(`port ${port} of 127.0.0.1 is taken`);
    expect(await say('good', 'echo', { value: 'hi' })).toBe('hi');
    expect((await ask({ socketPath: home.socket }, '/health')).status).toBe(200);
  });

  it('refuses a token file that others can read', async () => {
    const home = makeHome(config([], { http: { listen: ANY } }));
    mkdirSync(join(home.folder, 'state'), { mode: 0o700 });
    writeFileSync(join(home.folder, ...TOKEN_FILE), `${'x'.repeat(43)}\n`, { mode: 0o644 });
    await home.start();
    const fleet = await connect({ socket: home.socket });
    onTestFinished(() => fleet.close());
    const { daemon } = await fleet.status();
    expect(daemon.http).toEqual({ url: null, error: expect.stringContaining('not secret') });
  });

  it('opens, moves and closes with the config', async () => {
    const { home, status, fleet, address, port } = await start({ listen: ANY, token: 'none' });
    const reload = async (http?: unknown) => {
      home.configure(config([server('good', 'good.mjs')], http === undefined ? {} : { http }));
      await fleet.reload();
      return status();
    };
    expect(await reload({ listen: ANY, token: 'none' })).toEqual({
      url: `http://127.0.0.1:${port}`,
      error: null,
    });
    const moved = await reload({ listen: 'localhost:0', token: 'auto' });
    expect(moved?.url).toMatch(/^http:\/\/localhost:\d+$/);
    await expect(ask(address, '/health')).rejects.toThrow('ECONNREFUSED');
    const answer = await ask({ host: 'localhost', port: Number(new URL(moved?.url ?? '').port) }, '/health');
    expect(answer.status).toBe(401);
    expect(await reload()).toBe(null);
  });

  it.each(['0.0.0.0:8000', '192.168.1.1:8000', ':8000', 'example.com:8000'])(
    'refuses to listen on %s',
    async (listen) => {
      const home = makeHome(config([], { http: { listen } }));
      const readiness = await home.launch().readiness;
      expect(readiness).toMatchObject({
        ready: false,
        error: { message: expect.stringContaining('loopback') },
      });
    },
  );
});
