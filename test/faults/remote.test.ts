import { afterEach, describe, expect, it } from 'vitest';
import { tcpProxy, tinyHttp, tinySse } from '../link/remote/tiny-server.js';
import { type Herd, startHerd, until } from '../support/herd.js';
import { NOISE_MS } from '../support/noise.js';
import { everything, type Remote, type RemoteServer } from '../support/remote-servers.js';
import { measured, millis } from './measured.js';

/** Tries follow each other quickly: a test is not to wait for a backoff. */
const SOON = { backoff: { min: 0.1, max: 0.2, factor: 1, jitter: 0 }, timeout: 10 };
/** Time enough for a running server to answer, also on a loaded machine. */
const PING = { interval: 0.5, timeout: 2 };
/** Interval, timeout, the second that is allowed, and what a loaded machine may add. */
const NOTICED_MS = 500 + 2000 + 1000 + NOISE_MS;
const LONG = { tool: 'trigger-long-running-operation', arguments: { duration: 60, steps: 60 } };

const servers: RemoteServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.kill();
});

interface Far {
  name: string;
  transport: Remote;
  url: string;
}

function herdOf(servers: readonly Far[], fields: Record<string, unknown> = {}): Promise<Herd> {
  const entries = servers.map((far) => ({
    ...far,
    description: far.name,
    server: far.name,
    ...SOON,
    ...fields,
  }));
  return startHerd(`version: "1.0"\nmcp_servers: ${JSON.stringify(entries)}\n`);
}

async function started(transport: Remote): Promise<RemoteServer> {
  const server = await everything(transport);
  servers.push(server);
  return server;
}

const callLong = (herd: Herd, name: string) => herd.fleet.call({ server: name, ...LONG });

/** Resolves when the server has the call and has not answered. */
async function inFlight(herd: Herd, name: string): Promise<void> {
  await until(async () => (await herd.status(name)).in_flight === 1);
}

describe.each<Remote>(['http', 'sse', 'websocket'])('U6 FR-023: a server over %s', (transport) => {
  it('a server replaced between calls serves on; its death fails a call within a second, and it serves on its return', async () => {
    const server = await started(transport);
    const herd = await herdOf([{ name: 'far', transport, url: server.url }]);
    const isConnected = async () => {
      const now = await herd.status('far');
      return now.state === 'connected' && now;
    };
    expect(await herd.say('far', 'echo', { message: 'one' })).toContain('one');
    await server.kill();
    await until(async () => (await herd.status('far')).state !== 'connected');
    await server.start();
    const replaced = await until(isConnected);
    // for the session is opened anew
    expect(await herd.say('far', 'echo', { message: 'two' })).toContain('two');

    const call = callLong(herd, 'far');
    await inFlight(herd, 'far');
    await server.kill();
    const killedAt = performance.now();
    const { error, success } = await call;
    const tookMs = performance.now() - killedAt;
    measured(`U6: ${transport}: the caller got the error ${millis(tookMs)} after the server was killed`);
    expect(tookMs).toBeLessThan(1000 + NOISE_MS);
    expect({ success, error }).toMatchObject({
      success: false,
      error: { type: 'MCPConnectionError', sent: true },
    });
    expect(error?.fix).toBeTruthy();

    // it is away for more tries than a process would be given
    await until(async () => (await herd.status('far')).restarts >= replaced.restarts + 8);
    await server.start();
    const back = await until(isConnected);
    expect(back.incarnation).toBeGreaterThan(replaced.incarnation);
    expect(await herd.say('far', 'echo', { message: 'three' })).toContain('three');
  });
});

describe('U6: a cable that is pulled', () => {
  it('a server that vanishes during a call is noticed by ping: over http, sse and websocket', async () => {
    const behind = await Promise.all(
      (['http', 'sse', 'websocket'] as const).map(async (transport) => {
        const server = await started(transport);
        const proxy = await tcpProxy(server.port);
        const url = server.url.replace(String(server.port), String(proxy.port));
        return { name: transport, transport, url, proxy };
      }),
    );
    const herd = await herdOf(
      behind.map(({ proxy: _, ...far }) => far),
      { ping: PING },
    );
    await Promise.all(
      behind.map(async ({ name, proxy }) => {
        await herd.say(name, 'echo', { message: 'one' });
        const call = callLong(herd, name);
        await inFlight(herd, name);
        proxy.pull();
        const pulledAt = performance.now();
        const { error } = await call;
        const tookMs = performance.now() - pulledAt;
        measured(`U6: ${name}: disappeared silently, detected after ${millis(tookMs)}`);
        expect(tookMs, name).toBeLessThan(NOTICED_MS);
        expect(error, name).toMatchObject({ sent: true });
        expect(error?.fix, name).toBeTruthy();
      }),
    );
  });

  it('a server that vanishes while idle is noticed by ping: over http and sse', async () => {
    const behind = await Promise.all(
      ([tinyHttp, tinySse] as const).map(async (tiny) => tcpProxy((await tiny()).port)),
    );
    const names = ['http', 'sse'] as const;
    const herd = await herdOf(
      names.map((transport, at) => ({
        name: transport,
        transport,
        url: `http://127.0.0.1:${behind[at]?.port}/mcp`,
      })),
      { ping: PING },
    );
    await Promise.all(
      names.map(async (name, at) => {
        expect(await herd.say(name, 'any')).toBe('did any');
        await until(async () => (await herd.status(name)).tools === 1);
        behind[at]?.pull();
        await until(async () => (await herd.status(name)).state !== 'connected', NOTICED_MS);
        expect((await herd.status(name)).last_error, name).toMatchObject({ cause: 'hung' });
      }),
    );
  });
});
