import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connectPage, visitLink } from '../dashboard/visitor.js';
import { config, server } from '../faults/config.js';
import { ask } from '../ipc/http/support.js';
import { RawClient } from '../ipc/support.js';
import { DIST } from '../support/command.js';
import { startHerd, until } from '../support/herd.js';

describe('the page of a daemon', () => {
  it('is on a free port of loopback, from the first link on, and works with the real herd', async () => {
    const { fleet } = await startHerd(config([server('good', 'good.mjs')]));
    const { url, expires_at } = await fleet.ui();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/ui\/open\?key=[\w-]{43}$/);
    expect(Date.parse(expires_at) - Date.now()).toBeLessThanOrEqual(60_000);
    expect(new URL((await fleet.ui()).url).port).toBe(new URL(url).port);
    const visitor = await visitLink(url);
    const address = { host: '127.0.0.1', port: Number(new URL(url).port) };
    const page = await ask(address, visitor.path, { headers: { Cookie: visitor.cookie } });
    expect(page.text).toContain('<script type="module" src="app.js">');
    const script = await ask(address, `${visitor.path}app.js`, { headers: { Cookie: visitor.cookie } });
    expect(script.headers['content-type']).toContain('text/javascript');
    const client = await connectPage(visitor);
    await client.request('fleet/subscribe', { topics: ['call'] });
    const call = { server: 'good', tool: 'echo', arguments: { value: 'hi' } };
    expect((await client.request('fleet/call', call)).result.content[0].text).toBe('hi');
    const [event] = await until(() => {
      const events = client.notified('fleet/event');
      return events.length > 0 && events;
    });
    expect(event).toMatchObject({ topic: 'call', via: 'page' });
    const { result } = await client.request('page/config');
    expect(result).toMatchObject({ problems: [], plan: { unchanged: ['good'] } });
  });

  it('is no part of the code that every daemon loads', () => {
    const bundle = (name: string) => readFileSync(join(DIST, 'bin', name), 'utf8');
    expect(bundle('program.cjs')).not.toContain('frame-ancestors');
    expect(bundle('dashboard.cjs')).toContain('frame-ancestors');
  });

  it.each(['.br', '.gz'])('comes over the wire in at most 150 kB, as %s', (ending) => {
    const folder = join(DIST, 'page');
    const files = readdirSync(folder).filter((name) => name.endsWith(ending));
    expect(files.map((name) => name.slice(0, -ending.length)).sort()).toEqual(
      readdirSync(folder).filter((name) => !/\.(br|gz)$/.test(name)),
    );
    const bytes = files.map((name) => statSync(join(folder, name)).size);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(150_000);
  });

  it('is on the port of daemon.http where there is one, without its token', async () => {
    const http = { listen: '127.0.0.1:0' };
    const { fleet } = await startHerd(config([], { http }));
    const base = (await fleet.status()).daemon.http?.url ?? '';
    const port = Number(new URL(base).port);
    const address = { host: '127.0.0.1', port };
    expect((await ask(address, '/ui/')).status).toBe(401);
    const { url } = await fleet.ui();
    expect(url.startsWith(`${base}/ui/open?key=`)).toBe(true);
    const client = await connectPage(await visitLink(url));
    expect((await client.request('ping')).result).toBeDefined();
    expect((await ask(address, '/health')).status).toBe(401);
  });

  it('leaves HTTP clients alone that would like another protocol (Upgrade: h2c)', async () => {
    const { fleet } = await startHerd(config([], { http: { listen: '127.0.0.1:0', token: 'none' } }));
    const port = Number(new URL((await fleet.status()).daemon.http?.url ?? '').port);
    const address = { host: '127.0.0.1', port };
    const body = JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    });
    const { status, json } = await ask(address, '/mcp', {
      method: 'POST',
      headers: {
        Connection: 'Upgrade, HTTP2-Settings',
        Upgrade: 'h2c',
        'HTTP2-Settings': 'AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
        'Content-Type': 'application/json',
        'Content-Length': String(Buffer.byteLength(body)),
        Accept: 'application/json, text/event-stream',
      },
      body,
    });
    expect([status, json().id]).toEqual([200, 1]);
    expect(
      (await ask(address, '/health', { headers: { Connection: 'Upgrade', Upgrade: 'h2c' } })).status,
    ).toBe(200);
  });

  it('closes with its port when the config takes daemon.http away', async () => {
    const { fleet, home } = await startHerd(config([], { http: { listen: '127.0.0.1:0' } }));
    const client = await connectPage(await visitLink((await fleet.ui()).url));
    home.configure(config([]));
    await fleet.reload();
    expect((await client.closed).code).toBe(1006);
    const again = await connectPage(await visitLink((await fleet.ui()).url));
    expect((await again.request('ping')).result).toBeDefined();
  });

  it('learns that the daemon ends', async () => {
    const { fleet, daemon } = await startHerd(config([]));
    const client = await connectPage(await visitLink((await fleet.ui()).url));
    await client.request('fleet/hello', { client: { name: 'page' }, closing_notice: true });
    daemon.kill('SIGTERM');
    expect(await client.closed).toEqual({ code: 1001, reason: 'the daemon ends' });
    expect(client.notified('fleet/closing')).toEqual([{ reason: 'shutdown' }]);
  });

  it('is not counted among the agents that need another daemon', async () => {
    const { fleet } = await startHerd(config([]));
    const client = await connectPage(await visitLink((await fleet.ui()).url));
    await client.request('fleet/hello', { client: { name: 'page' }, closing_notice: true });
    expect((await fleet.shutdown()).attached).toBe(0);
    expect(client.notified('fleet/closing')).toEqual([{ reason: 'shutdown' }]);
  });

  it('asks about an agent file that a client named and the user has not allowed', async () => {
    const { fleet, home } = await startHerd(config([]));
    const project = join(home.folder, 'project');
    mkdirSync(project);
    const file = join(project, 'agent.yaml');
    writeFileSync(
      file,
      'tools:\n  - {name: x, description: d, type: mcp, server: s, command: npx, args: [-y, s]}\n',
    );
    const client = await connectPage(await visitLink((await fleet.ui()).url));
    const trust = async () => (await client.request('page/config')).result.trust;
    // a page may name allowed files only, and is no reason to ask
    expect((await client.request('fleet/hello', { agent: file })).error.data.type).toBe('TrustRequiredError');
    expect(await trust()).toEqual([]);
    const agent = await RawClient.open(home.socket);
    agent.ask(1, 'fleet/hello', { agent: file });
    expect(JSON.parse((await agent.take(1))[0] ?? '').error.data.type).toBe('TrustRequiredError');
    const [shown] = await trust();
    expect(shown).toMatchObject({
      file,
      status: 'not allowed',
      servers: [{ name: 'x', run: ['npx', '-y', 's'] }],
    });
    const { result } = await client.request('page/allow', { file, digest: shown.digest });
    expect(result.ok).toBe(true);
    agent.ask(2, 'fleet/hello', { agent: file });
    expect(JSON.parse((await agent.take(1))[0] ?? '').result.agent).toBe(file);
  });
});
