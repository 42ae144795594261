import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { connect, createServer as createTcp, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTls } from 'node:tls';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { tinyHttp } from '../link/remote/tiny-server.js';
import { toolherd } from '../support/command.js';
import { type Herd, herdIn, killDaemon, startHerd, until } from '../support/herd.js';
import { everything, freePort, type Remote, type RemoteServer } from '../support/remote-servers.js';

const TLS = join(import.meta.dirname, '..', 'fixtures', 'tls');
const pem = (name: string) => readFileSync(join(TLS, `${name}.pem`));

/** Ordinary tries come every 0.2 s at most; a wrong entry is looked at again every 2 s. */
const SOON = { backoff: { min: 0.1, max: 0.2, factor: 1, jitter: 0 } };
/** A wrong entry is looked at again every 120 s; a call may make the next try after 4 s. */
const SLOW = { backoff: { min: 0.1, max: 12, factor: 1, jitter: 0 } };

const servers: RemoteServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.kill();
});

interface StandIn {
  /** Connections so far. */
  asked(): number;
  leave(): Promise<void>;
}

/** Takes the port of a server that is away, and is none. */
async function standIn(server: Server, port: number): Promise<StandIn> {
  const sockets = new Set<Socket>();
  let asked = 0;
  server.on('connection', (socket: Socket) => {
    asked += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const leave = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  onTestFinished(leave);
  return { asked: () => asked, leave };
}

const answering = (status: number, type: string, text: string) => () =>
  createHttp((_request, response) => {
    response.writeHead(status, { 'content-type': type }).end(text);
  });

const STAND_INS = {
  'HTTP 404': answering(404, 'text/plain', '404 page not found'),
  'HTTP 405': answering(405, 'text/plain', ''),
  'HTTP 403 of a firewall': answering(403, 'text/html', '<h1>Forbidden</h1>'),
  'HTTP 401 without a challenge': answering(401, 'text/plain', ''),
  'a page in HTML': answering(200, 'text/html', '<html>down for maintenance</html>'),
  'a redirect to a login': () =>
    createHttp((_request, response) => {
      response.writeHead(302, { location: 'https://login.example/' }).end();
    }),
  garbage: () => createTcp((socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n')),
};

interface Far {
  name: string;
  transport: Remote;
  url: string;
}

function configOf(servers: readonly Far[], fields: Record<string, unknown>): string {
  const entries = servers.map((far) => ({
    ...far,
    description: far.name,
    server: far.name,
    timeout: 10,
    ...fields,
  }));
  return `version: "1.0"\nmcp_servers: ${JSON.stringify(entries)}\n`;
}

const isConnected = async (herd: Herd, name: string) => (await herd.status(name)).state === 'connected';

describe('U6 FR-023 SC-006: a remote server that was connected before', () => {
  it('is tried again for any answer at its address, and serves when it is back, without reset', async () => {
    const transports: Remote[] = ['http', 'sse', 'websocket'];
    servers.push(...(await Promise.all(transports.map((transport) => everything(transport)))));
    const far = servers.map(({ url }, at) => ({ name: transports[at]!, transport: transports[at]!, url }));
    const herd = await startHerd(configOf(far, SOON));
    for (const { name } of far) expect(await herd.say(name, 'echo', { message: 'one' })).toContain('one');

    await Promise.all(
      far.map(async ({ name }, at) => {
        const server = servers[at]!;
        await server.kill();
        for (const [kind, make] of Object.entries(STAND_INS)) {
          const other = await standIn(make(), server.port);
          await until(() => other.asked() >= 3);
          const { detail } = await herd.status(name);
          expect([name, kind, detail]).toEqual([name, kind, expect.stringMatching(/^(waiting|running)$/)]);
          await other.leave();
        }
        await server.start();
        await until(() => isConnected(herd, name));
        expect(await herd.say(name, 'echo', { message: 'two' })).toContain('two');
      }),
    );
  }, 60_000);

  it('is tried again when its certificate is not trusted for a while, or it speaks no TLS', async () => {
    const { port: behind } = await tinyHttp();
    const terminate = (certificate: string) =>
      createTls({ key: pem('key'), cert: pem(certificate) }, (near) => {
        const far = connect(behind, '127.0.0.1');
        near.on('error', () => far.destroy()).on('close', () => far.destroy());
        far.on('error', () => near.destroy());
        near.pipe(far).pipe(near);
      });
    const port = await freePort();
    const far: Far = { name: 'far', transport: 'http', url: `https://localhost:${port}/mcp` };
    const environment = { NODE_EXTRA_CA_CERTS: join(TLS, 'trusted.pem') };
    const real = await standIn(terminate('trusted'), port);
    const herd = await startHerd(configOf([far], SOON), { environment });
    expect(await herd.say('far', 'any')).toBe('did any');
    await real.leave();
    for (const [make, code] of [
      [() => terminate('stranger'), 'DEPTH_ZERO_SELF_SIGNED_CERT'],
      [STAND_INS.garbage, 'EPROTO'],
    ] as const) {
      const other = await standIn(make(), port);
      await until(async () => (await herd.status('far')).last_error?.message.includes(code));
      await until(() => other.asked() >= 3);
      expect((await herd.status('far')).detail).toMatch(/^(waiting|running)$/);
      await other.leave();
    }
    await standIn(terminate('trusted'), port);
    await until(() => isConnected(herd, 'far'));
    expect(await herd.say('far', 'any')).toBe('did any');
  });

  it('is known to the next daemon, which tries again as soon', async () => {
    const server = await tinyHttp();
    const far: Far = { name: 'far', transport: 'http', url: server.url };
    const first = await startHerd(configOf([far], SLOW));
    expect(await first.say('far', 'any')).toBe('did any');
    await until(async () => (await first.status('far')).tools === 1);
    await killDaemon(first.home, first.daemon);
    await server.die();
    const other = await standIn(STAND_INS['HTTP 404'](), server.port);
    const second = await herdIn(first.home, await first.home.start());
    const { error } = await second.fleet.call({ server: 'far', tool: 'any' });
    expect(error).toMatchObject({
      message: expect.stringContaining('HTTP 404'),
      fix: expect.stringMatching(
        /^wait for the next try: it was connected before; if this lasts, check 'url'/,
      ),
    });
    expect((await second.status('far')).last_error?.fix).toBe(error?.fix);
    await until(() => other.asked() >= 6);
    await other.leave();
    await server.reborn();
    await until(() => isConnected(second, 'far'));
    expect(await second.say('far', 'any')).toBe('did any');
  });
});

describe('U6 FR-023: a refusal that asks for credentials', () => {
  const BEARER = { 'www-authenticate': 'Bearer error="invalid_token"' };
  const AUTHORIZATION = { headers: { Authorization: 'Bearer s3cret-value' } };
  const refusing = (status: number, headers: Record<string, string>) =>
    createHttp((_request, response) => {
      response.writeHead(status, headers).end();
    });

  it.each<[Remote, number, Record<string, unknown>]>([
    ['http', 401, {}],
    ['http', 401, AUTHORIZATION],
    ['http', 403, AUTHORIZATION],
    ['sse', 401, AUTHORIZATION],
    ['sse', 403, {}],
    ['websocket', 401, {}],
  ])(
    'a refusal with a challenge leads to needs_auth, also after it was connected: %s, HTTP %i, %j',
    async (transport, status, fields) => {
      const server = transport === 'http' ? await tinyHttp() : undefined;
      const port = server?.port ?? (await freePort());
      const url = `${transport === 'websocket' ? 'ws' : 'http'}://127.0.0.1:${port}/mcp`;
      const herd = await startHerd(configOf([{ name: 'far', transport, url }], { ...SOON, ...fields }));
      if (server !== undefined) expect(await herd.say('far', 'any')).toBe('did any');
      await server?.die();
      await standIn(refusing(status, BEARER), port);
      await herd.fleet.restart({ servers: ['far'] }, true);
      expect(await herd.status('far')).toMatchObject({ detail: 'needs_auth', last_error: { cause: 'auth' } });
    },
  );

  it.each<[Remote, number, Record<string, unknown>]>([
    ['http', 401, {}],
    ['http', 401, AUTHORIZATION],
    ['http', 403, {}],
    ['sse', 401, AUTHORIZATION],
    ['websocket', 403, {}],
  ])(
    'a first refusal without a challenge is AuthRequiredError, and is tried again slowly: %s, HTTP %i, %j',
    async (transport, status, fields) => {
      const port = await freePort();
      const other = await standIn(refusing(status, {}), port);
      const url = `${transport === 'websocket' ? 'ws' : 'http'}://127.0.0.1:${port}/mcp`;
      const herd = await startHerd(configOf([{ name: 'far', transport, url }], { ...SLOW, ...fields }));
      const { error } = await herd.fleet.call({ server: 'far', tool: 'any' });
      expect(error).toMatchObject({ type: 'AuthRequiredError', fix: expect.stringMatching(/auth|headers/) });
      const { detail, next_retry_at, last_error } = await herd.status('far');
      expect({ detail, last_error }).toMatchObject({
        detail: 'waiting',
        last_error: { cause: 'auth', fix: error?.fix },
      });
      expect(Date.parse(next_retry_at ?? '') - Date.now()).toBeGreaterThan(30_000);
      const asked = other.asked();
      const later = await herd.fleet.call({ server: 'far', tool: 'any' });
      expect(later.error).toMatchObject({ type: 'AuthRequiredError', fix: error?.fix });
      expect(other.asked()).toBe(asked);
    },
  );

  it('has the same fix in every command', async () => {
    const port = await freePort();
    await standIn(refusing(403, BEARER), port);
    const url = `http://127.0.0.1:${port}/mcp`;
    const herd = await startHerd(configOf([{ name: 'far', transport: 'http', url }], SLOW));
    const run = async (...words: string[]) => {
      const { stdout, stderr } = await toolherd(words, {
        cwd: herd.home.folder,
        env: herd.home.environment,
      });
      return stdout + stderr;
    };
    const fix = "check the credentials in 'headers' of far";
    expect(await run('call', 'far.any')).toContain(fix);
    for (const words of [['status'], ['why', 'far'], ['doctor'], ['tools']]) {
      const text = await run(...words);
      expect([words, text]).toEqual([words, expect.stringContaining(fix)]);
      expect(text).not.toContain('toolherd auth');
    }
  });
});

it('U6 FR-023: a remote server is not tried during its Retry-After, also not by calls', async () => {
  const server = await tinyHttp({
    on: Object.fromEntries(
      ['initialize', 'server/discover'].map((method) => [
        method,
        (_message, response) => response.writeHead(429, { 'retry-after': '45' }).end('slow down'),
      ]),
    ),
  });
  const herd = await startHerd(configOf([{ name: 'far', transport: 'http', url: server.url }], SLOW));
  expect(await herd.say('far', 'any')).toContain('answered HTTP 429: slow down');
  const asked = server.seen.length;
  const { detail, next_retry_at } = await herd.status('far');
  const inMs = Date.parse(next_retry_at ?? '') - Date.now();
  expect([detail, inMs > 30_000, inMs <= 45_000]).toEqual(['waiting', true, true]);
  expect(await herd.say('far', 'any')).toMatch(/could not be started; the next try is in [34]\d\.\d s$/);
  expect(server.seen).toHaveLength(asked);
});

describe('U6 FR-023 SC-003: a remote server whose entry looks wrong from the start', () => {
  const wrongFromStart = async (fields: Record<string, unknown>) => {
    const server = await tinyHttp();
    await server.die();
    const other = await standIn(STAND_INS['HTTP 404'](), server.port);
    const herd = await startHerd(configOf([{ name: 'far', transport: 'http', url: server.url }], fields));
    const { error } = await herd.fleet.call({ server: 'far', tool: 'any' });
    expect(error).toMatchObject({
      type: 'MCPProtocolError',
      message: `far: ${server.url} answered HTTP 404: 404 page not found, before it had answered initialize`,
      fix: "check 'url' and 'transport' of far: an MCP server answers at one path, in one way",
      sent: false,
    });
    const appear = async () => {
      await other.leave();
      await server.reborn();
    };
    return { herd, other, appear };
  };

  it('is reported at once and tried again slowly; a call gets the cause and the fix, and a later call makes a try', async () => {
    const { herd, appear } = await wrongFromStart(SLOW);
    const { detail, next_retry_at, last_error } = await herd.status('far');
    expect({ detail, last_error }).toMatchObject({
      detail: 'waiting',
      last_error: {
        message: expect.stringContaining('HTTP 404'),
        fix: expect.stringContaining("check 'url'"),
      },
    });
    expect(Date.parse(next_retry_at ?? '') - Date.now()).toBeGreaterThan(30_000);
    const { error } = await herd.fleet.call({ server: 'far', tool: 'any' });
    expect(error).toMatchObject({
      type: 'ServerUnavailableError',
      message: expect.stringMatching(
        /^far: could not be started; the next try is in 1\d\d\.\d s, or with a call in \d\.\d s$/,
      ),
      why: expect.stringContaining('HTTP 404'),
      fix: expect.stringContaining("check 'url'"),
    });
    await appear();
    const served = await until(async () => {
      const result = await herd.fleet.call({ server: 'far', tool: 'any' });
      return result.success && result;
    });
    expect(served.content).toEqual([{ type: 'text', text: 'did any' }]);
    expect(Date.now()).toBeLessThan(Date.parse(next_retry_at ?? ''));
  });

  it('is connected by a slow try, without a call', async () => {
    const { herd, other, appear } = await wrongFromStart(SOON);
    const before = other.asked();
    await until(() => other.asked() > before);
    expect((await herd.status('far')).detail).toMatch(/^(waiting|running)$/);
    await appear();
    await until(() => isConnected(herd, 'far'));
    expect(await herd.say('far', 'any')).toBe('did any');
  });

  it('is tried at once by reset, restart and start', async () => {
    const { herd, other } = await wrongFromStart(SLOW);
    for (const order of ['reset', 'restart', 'start'] as const) {
      const before = other.asked();
      await herd.fleet[order]({ servers: ['far'] }, true);
      expect([order, other.asked() > before]).toEqual([order, true]);
    }
  });

  it('is reported by why, status and doctor with the cause, the next try and the fix', async () => {
    const { herd } = await wrongFromStart(SLOW);
    const run = async (...words: string[]) =>
      (await toolherd(words, { cwd: herd.home.folder, env: herd.home.environment })).stdout;
    const why = await run('why', 'far');
    expect(why).toMatch(/^far does not run: it failed and waits for the next try/);
    expect(why).toContain('answered HTTP 404');
    expect(why).toMatch(/What happens next: it is tried again in [12]m\d+s/);
    expect(why).toMatch(
      /What you can do: check 'url' and 'transport' of far: .*; then "toolherd start far" tries at once\./,
    );
    for (const verb of ['status', 'doctor']) {
      expect(await run(verb)).toMatch(/far: .*answered HTTP 404.*; next try at 20\d\d-/);
    }
  });
});
