import { describe, expect, it } from 'vitest';
import { failureOf, shownUrl } from '../../../src/link/failures/remote-endings.js';
import type { Failed } from '../../../src/machines/restart/ending.js';
import { NOISE_MS } from '../../support/noise.js';
import { freePort, type Remote } from '../../support/remote-servers.js';
import { open, remoteSpec, timed } from '../remote/support.js';
import { type Answer, deafServer, tinyHttp } from '../remote/tiny-server.js';

const place = { name: 'far', url: 'https://example.com/mcp' };

const whenRefused = async (answer: Answer, changes: Parameters<typeof remoteSpec>[2] = {}) => {
  const { url } = await tinyHttp({ on: { initialize: answer, 'server/discover': answer } });
  return open(remoteSpec('http', url, changes)).ended;
};

describe('a remote server that cannot be opened is reported with the cause, the reason and the fix:', () => {
  it.each<Remote>(['http', 'sse', 'websocket'])('US5: nothing listens there: %s', async (transport) => {
    const url = `${transport === 'websocket' ? 'ws' : 'http'}://127.0.0.1:${await freePort()}/mcp`;
    const ending = await open(remoteSpec(transport, `${url}?token=s3cret-value`)).ended;
    expect(ending).toEqual({
      kind: 'error',
      cause: 'lost',
      looksMisconfigured: false,
      message: `far: ${url} cannot be reached: nothing listens there (ECONNREFUSED), before it had answered initialize`,
      fix: "start the server, or check 'url' of far",
    });
  });

  it.each<Remote>(['http', 'sse', 'websocket'])('US5: its host is not known: %s', async (transport) => {
    const url = `${transport === 'websocket' ? 'wss' : 'https'}://nowhere.invalid/mcp`;
    const ending = await open(remoteSpec(transport, url)).ended;
    expect(ending).toMatchObject({ kind: 'error', cause: 'lost', looksMisconfigured: false });
    expect(JSON.stringify(ending)).toMatch(/ENOTFOUND|EAI_AGAIN/);
  });

  it.each<Remote>(['http', 'sse', 'websocket'])('US5: no TLS there: %s', async (transport) => {
    const { port } = await tinyHttp();
    const url = `${transport === 'websocket' ? 'wss' : 'https'}://127.0.0.1:${port}/mcp`;
    const ending = await open(remoteSpec(transport, url)).ended;
    expect(ending).toMatchObject({ kind: 'error', cause: 'lost', looksMisconfigured: true });
    expect(JSON.stringify(ending)).toContain('does the server speak TLS at that port?');
  });

  it.each<Remote>(['http', 'sse', 'websocket'])('US5: it does not answer: %s', async (transport) => {
    const port = await deafServer();
    const url = `${transport === 'websocket' ? 'ws' : 'http'}://127.0.0.1:${port}/mcp`;
    const [ms, ending] = await timed(open(remoteSpec(transport, url, { timeoutMs: 400 })).ended);
    expect(ending).toMatchObject({ kind: 'error', cause: 'timeout' });
    expect(JSON.stringify(ending)).toContain('gave no initialize reply in 0.4 s');
    expect(ms).toBeLessThan(400 + NOISE_MS);
  });

  it('US5: credentials are wanted: the fix names the headers, and shows no value', async () => {
    const headers = { Authorization: 'Bearer s3cret-value' };
    const ending = await whenRefused((_message, response) => response.writeHead(401).end('who are you?'), {
      headers,
    });
    expect(ending).toMatchObject({
      kind: 'error',
      cause: 'auth',
      fix: "check the credentials in 'headers' of far",
    });
    expect(JSON.stringify(ending)).toContain('answered HTTP 401: who are you?');
    expect(JSON.stringify(ending)).not.toContain('s3cret-value');
    expect(await whenRefused((_message, response) => response.writeHead(403).end())).toMatchObject({
      cause: 'auth',
    });
  });

  it.each([404, 405])('US5: HTTP %i at the handshake looks like a wrong entry', async (status) => {
    const ending = await whenRefused((_message, response) => response.writeHead(status).end('nothing here'));
    expect(ending).toMatchObject({ kind: 'error', cause: 'protocol', looksMisconfigured: true });
    expect(JSON.stringify(ending)).toContain(`answered HTTP ${status}: nothing here`);
  });

  it('HTTP 503 does not look like a wrong entry', async () => {
    const ending = await whenRefused((_message, response) => response.writeHead(503).end('busy'));
    expect(ending).toMatchObject({ kind: 'error', cause: 'protocol', looksMisconfigured: false });
  });

  it('a page in HTML looks like a wrong entry', async () => {
    const ending = await whenRefused((_message, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    );
    expect(ending).toMatchObject({ kind: 'error', cause: 'protocol', looksMisconfigured: true });
    expect(JSON.stringify(ending)).toContain('text/html');
  });

  it.each(['DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID'])(
    'a certificate that is not trusted looks like a wrong entry: %s',
    (code) => {
      const failed = failureOf(place, { kind: 'unreachable', code, message: '' }, false);
      expect(failed).toMatchObject({ looksMisconfigured: true });
      expect(failed.fix).toContain('NODE_EXTRA_CA_CERTS');
    },
  );

  it.each<[Remote, string, number]>([
    ['http', '7', 7000],
    ['sse', '7', 7000],
    ['websocket', '7', 7000],
    ['http', new Date(Date.now() + 3_600_000).toUTCString(), 3_600_000],
  ])('FR-023: its Retry-After is read: %s, Retry-After: %s', async (transport, said, ms) => {
    const refuse: Answer = (_message, response) => response.writeHead(429, { 'retry-after': said }).end();
    const { url, server } = await tinyHttp({
      on: { GET: refuse, initialize: refuse, 'server/discover': refuse },
    });
    server.on('upgrade', (_request, socket) => socket.end(`HTTP/1.1 429 No\r\nRetry-After: ${said}\r\n\r\n`));
    const address = transport === 'websocket' ? url.replace('http', 'ws') : url;
    const ending = await open(remoteSpec(transport, address)).ended;
    expect(ending).toMatchObject({ kind: 'error', cause: 'protocol', looksMisconfigured: false });
    const { retryAfterMs = 0 } = ending as Failed;
    expect(retryAfterMs).toBeLessThanOrEqual(ms);
    expect(retryAfterMs).toBeGreaterThan(ms - 10_000);
  });

  it.each(['soon', '-5', new Date(0).toUTCString()])(
    'an invalid Retry-After is ignored: %s',
    async (said) => {
      const ending = await whenRefused((_message, response) =>
        response.writeHead(503, { 'retry-after': said }).end(),
      );
      expect(ending).not.toHaveProperty('retryAfterMs');
    },
  );

  it('a WebSocket that is refused with a page looks like a wrong entry', async () => {
    const { url } = await tinyHttp({
      on: { GET: (_message, response) => response.writeHead(200).end('<html>') },
    });
    const ending = await open(remoteSpec('websocket', url.replace('http', 'ws'))).ended;
    expect(ending).toMatchObject({ cause: 'protocol', looksMisconfigured: true });
    expect((ending as Failed).fix).toContain("check 'url' and 'transport' of far");
  });

  it('the url is shown without its secrets', () => {
    expect(shownUrl('https://user:pass@example.com:8443/a/b?token=x#y')).toBe('https://example.com:8443/a/b');
  });
});
