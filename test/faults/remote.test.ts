import { afterEach, describe, expect, it } from 'vitest';
import { tcpProxy, tinyHttp, tinySse } from '../link/remote/tiny-server.js';
import { type Herd, startHerd, until } from '../support/herd.js';
import { NOISE_MS } from '../support/noise.js';
import { everything, type Remote, type RemoteServer } from '../support/remote-servers.js';
import { measured, millis } from './measured.js';

/** Tries follow each other quickly: a test is not to wait for a backoff. */
const SOON = { backoff: { min: 0.1, max: 0.2, factor: 1, jitter: 0 }, timeout: 10 };
/** Time enough for a server that is there to answer, whatever else the machine does. */
const PING = { interval: 0.5, timeout: 2 };
/** Interval, timeout, the second that is allowed, and what a loaded machine may add. */
const NOTICED_MS = 500 + 2000 + 1000 + NOISE_MS;
const LONG = { tool: 'trigger-long-running-operation', arguments: { duration: 60, steps: 60 } };

const servers: RemoteServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.kill();
});

function herdAt(transport: Remote, url: string, fields: Record<string, unknown> = {}): Promise<Herd> {
  const entry = { name: 'far', description: 'far', server: 'far', transport, url, ...SOON, ...fields };
  return startHerd(`version: "1.0"\nmcp_servers: ${JSON.stringify([entry])}\n`);
}

async function herdOf(transport: Remote) {
  const server = await everything(transport);
  servers.push(server);
  return { server, herd: await herdAt(transport, server.url) };
}

const callLong = (herd: Herd) => herd.fleet.call({ server: 'far', ...LONG });

/** A call is with the server when the server has been told of it and has not answered. */
async function inFlight(herd: Herd): Promise<void> {
  await until(async () => (await herd.status('far')).in_flight === 1);
}

describe.each<Remote>(['http', 'sse', 'websocket'])('U6 FR-023: a server over %s', (transport) => {
  it('that dies in the middle of a call: its caller knows within a second; after its return the next call works', async () => {
    const { herd, server } = await herdOf(transport);
    expect(await herd.say('far', 'echo', { message: 'one' })).toContain('one');
    const call = callLong(herd);
    await inFlight(herd);
    await server.kill();
    const killedAt = performance.now();
    const { error, success } = await call;
    const tookMs = performance.now() - killedAt;
    measured(`U6: ${transport}: the caller knew ${millis(tookMs)} after the server was killed`);
    expect(tookMs).toBeLessThan(1000 + NOISE_MS);
    expect({ success, error }).toMatchObject({
      success: false,
      error: { type: 'MCPConnectionError', sent: true },
    });
    expect(error?.fix).toBeTruthy();

    // it is away for more tries than a process would be given
    await until(async () => (await herd.status('far')).restarts >= 8);
    await server.start();
    const back = await until(async () => {
      const now = await herd.status('far');
      return now.state === 'connected' && now;
    });
    expect(back.incarnation).toBeGreaterThan(1);
    expect(await herd.say('far', 'echo', { message: 'two' })).toContain('two');
  });

  it('that is replaced between two calls: the next one works, for the session is opened anew', async () => {
    const { herd, server } = await herdOf(transport);
    await herd.say('far', 'echo', { message: 'one' });
    await server.kill();
    await until(async () => (await herd.status('far')).state !== 'connected');
    await server.start();
    await until(async () => (await herd.status('far')).state === 'connected');
    expect(await herd.say('far', 'echo', { message: 'two' })).toContain('two');
  });
});

describe('U6: a cable that is pulled', () => {
  it.each<Remote>(['http', 'sse', 'websocket'])(
    'a server over %s that vanished without a word is noticed in the time of its ping, in mid-call',
    async (transport) => {
      const server = await everything(transport);
      servers.push(server);
      const proxy = await tcpProxy(server.port);
      const url = server.url.replace(String(server.port), String(proxy.port));
      const herd = await herdAt(transport, url, { ping: PING });
      await herd.say('far', 'echo', { message: 'one' });
      const call = callLong(herd);
      await inFlight(herd);
      proxy.pull();
      const pulledAt = performance.now();
      const { error } = await call;
      const tookMs = performance.now() - pulledAt;
      measured(`U6: ${transport}: vanished without a word, noticed after ${millis(tookMs)}`);
      expect(tookMs).toBeLessThan(NOTICED_MS);
      expect(error).toMatchObject({ sent: true });
      expect(error?.fix).toBeTruthy();
    },
  );

  it.each([
    ['http', tinyHttp],
    ['sse', tinySse],
  ] as const)('an idle server over %s is noticed in the time of its ping', async (transport, tiny) => {
    const { port } = await tiny();
    const proxy = await tcpProxy(port);
    const herd = await herdAt(transport, `http://127.0.0.1:${proxy.port}/mcp`, { ping: PING });
    expect(await herd.say('far', 'any')).toBe('did any');
    await until(async () => (await herd.status('far')).tools === 1);
    proxy.pull();
    await until(async () => (await herd.status('far')).state !== 'connected', NOTICED_MS);
    expect((await herd.status('far')).last_error).toMatchObject({ cause: 'hung' });
  });
});
