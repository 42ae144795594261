import { connect as connectSocket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { LINK_MS } from '../../src/dashboard/access.js';
import type { Dashboard } from '../../src/dashboard/dashboard.js';
import { ask } from '../ipc/http/support.js';
import { until } from '../support/until.js';
import { servePage } from './served-page.js';

describe('the link of the page', () => {
  it('becomes a cookie for one path, and leaves the address bar', async () => {
    const { get, link, address } = await servePage();
    const { path } = await link();
    const { status, headers } = await get(path);
    expect(status).toBe(303);
    expect(headers.location).toMatch(/^\/ui\/[\w-]{22}\/$/);
    const [cookie, ...attributes] = String(headers['set-cookie']).split('; ');
    expect(cookie).toMatch(new RegExp(`^toolherd-${address.port}=[\\w-]{43}$`));
    expect(attributes).toEqual(['HttpOnly', 'SameSite=Strict', `Path=${headers.location}`]);
    expect(headers.location).not.toContain(path.split('=')[1]);
  });

  it('is opened once', async () => {
    const { get, link } = await servePage();
    const { path } = await link();
    expect((await get(path)).status).toBe(303);
    const again = await get(path);
    expect(again.status).toBe(403);
    expect(again.text).toContain('run "toolherd ui" for a new link');
    expect(again.headers['set-cookie']).toBeUndefined();
  });

  it('expires after a minute', async () => {
    const { get, link, clock } = await servePage();
    const [early, late] = [await link(), await link()];
    clock.advance(LINK_MS - 1);
    expect((await get(early.path)).status).toBe(303);
    clock.advance(1);
    expect((await get(late.path)).status).toBe(403);
  });

  it('is not used up by another method, a prefetch, a wrong Host or a foreign Origin', async () => {
    const { get, link } = await servePage();
    const { path } = await link();
    const others: [Record<string, string>, string, number][] = [
      [{}, 'POST', 405],
      [{}, 'HEAD', 405],
      [{}, 'OPTIONS', 405],
      [{ 'Sec-Purpose': 'prefetch' }, 'GET', 403],
      [{ Host: 'evil.example' }, 'GET', 403],
      [{ Origin: 'http://evil.example' }, 'GET', 403],
    ];
    const seen = [];
    for (const [headers, method] of others)
      seen.push([headers, method, (await get(path, headers, method)).status]);
    expect(seen).toEqual(others);
    expect((await get(path)).status).toBe(303);
  });

  it('opens by a refresh after a click on another site, whose redirect would lose the cookie', async () => {
    const { get, link } = await servePage();
    const { status, headers } = await get((await link()).path, { 'Sec-Fetch-Site': 'cross-site' });
    expect(status).toBe(200);
    expect(headers.refresh).toMatch(/^0; url=\/ui\/[\w-]{22}\/$/);
    expect(headers['set-cookie']).toBeDefined();
  });

  it('is refused to another user, and not used up', async () => {
    let uid: number | undefined = 4_294_967;
    const { get, link } = await servePage({ userOf: () => uid });
    const { path } = await link();
    const refused = await get(path);
    expect([refused.status, refused.text]).toEqual([403, 'this page is for another user\n']);
    uid = undefined;
    expect((await get(path)).status).toBe(303);
    uid = process.getuid?.();
    expect((await get((await link()).path)).status).toBe(303);
  });

  it('ends the oldest one where 64 others wait', async () => {
    const { get, link } = await servePage();
    const [first, second] = [await link(), await link()];
    for (let made = 2; made < 65; made += 1) await link();
    expect((await get(first.path)).status).toBe(403);
    expect((await get(second.path)).status).toBe(303);
  });
});

describe('the files of the page', () => {
  it('are for the browser that opened the link, with headers that let nothing else in', async () => {
    const { get, visit } = await servePage();
    const { path, cookie } = await visit();
    const { status, headers, text } = await get(path, { Cookie: cookie });
    expect([status, text]).toEqual([200, '<!doctype html>']);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(String(headers['content-security-policy']).split('; ')).toEqual([
      "default-src 'self'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      "media-src 'self' data:",
      "connect-src 'self'",
      "object-src 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });

  it('come compressed as the browser accepts it', async () => {
    const { get, visit } = await servePage();
    const { path, cookie } = await visit();
    const accepting = async (accepted: string) => {
      const { text, headers } = await get(`${path}app.js`, { Cookie: cookie, 'Accept-Encoding': accepted });
      return [text, headers['content-encoding']];
    };
    expect(await accepting('gzip, deflate, br, zstd')).toEqual(['as brotli', 'br']);
    expect(await accepting('gzip;q=0.5')).toEqual(['as gzip', 'gzip']);
    expect(await accepting('identity')).toEqual(['plain', undefined]);
  });

  it('are refused without the right Host, Origin, cookie, page, method and initiator', async () => {
    const { get, visit, host, address } = await servePage();
    const { path, cookie } = await visit();
    const other = await visit();
    const [, secret] = cookie.split('=');
    const table: [string, Record<string, string>, string, number][] = [
      [path, { Cookie: cookie }, 'GET', 200],
      [path, { Cookie: `a=b; ${cookie}; c=d`, Origin: `http://${host}` }, 'GET', 200],
      [path, { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' }, 'GET', 200],
      [path, { Cookie: cookie, 'Sec-Fetch-Site': 'none' }, 'GET', 200],
      [path, { Cookie: cookie, 'Sec-Fetch-Site': 'cross-site' }, 'GET', 403],
      [path, { Cookie: cookie, 'Sec-Fetch-Site': 'same-site' }, 'GET', 403],
      [path, { Cookie: cookie, Host: 'evil.example' }, 'GET', 403],
      [path, { Cookie: cookie, Host: `evil.example:${address.port}` }, 'GET', 403],
      [path, { Cookie: cookie, Host: `127.0.0.1:${address.port + 1}` }, 'GET', 403],
      [path, { Cookie: cookie, Origin: 'http://evil.example' }, 'GET', 403],
      [path, { Cookie: cookie, Origin: 'null' }, 'GET', 403],
      [path, { Cookie: cookie, Origin: `http://127.0.0.1:${address.port + 1}` }, 'GET', 403],
      [path, {}, 'GET', 403],
      [path, { Cookie: other.cookie }, 'GET', 403],
      [path, { Cookie: `toolherd-${address.port + 1}=${secret}` }, 'GET', 403],
      [path, { Cookie: `${cookie}x` }, 'GET', 403],
      [path, { Cookie: cookie.slice(0, -1) }, 'GET', 403],
      ['/ui/', { Cookie: cookie }, 'GET', 403],
      ['/ui', { Cookie: cookie }, 'GET', 403],
      [`/ui/${'A'.repeat(22)}/`, { Cookie: cookie }, 'GET', 403],
      [`${path}app.js`, {}, 'GET', 403],
      [path, { Cookie: cookie }, 'POST', 405],
      [path, { Cookie: cookie }, 'PUT', 405],
      [path, { Cookie: cookie }, 'DELETE', 405],
      [`${path}absent.js`, { Cookie: cookie }, 'GET', 404],
      [`${path}notes.txt`, { Cookie: cookie }, 'GET', 404],
    ];
    const seen = [];
    for (const [at, headers, method] of table)
      seen.push([at, headers, method, (await get(at, headers, method)).status]);
    expect(seen).toEqual(table);
  });

  it('are the only ones: no path leads out of their folder', async () => {
    const { get, visit } = await servePage();
    const { path, cookie } = await visit();
    const paths = [
      '../secret.html',
      '..%2fsecret.html',
      '%2e%2e/secret.html',
      '..\\secret.html',
      './../secret.html',
      'app.js/../../secret.html',
      '/etc/passwd',
      'app.js%00.html',
      '..',
      '__proto__',
      'constructor',
    ];
    for (const one of paths) {
      const { status, text } = await get(`${path}${one}`, { Cookie: cookie });
      expect([one, status >= 400]).toEqual([one, true]);
      expect(text).not.toContain('outside');
    }
  });
});

describe('the port of the page', () => {
  it('serves nothing but the page', async () => {
    const { get } = await servePage();
    for (const path of ['/mcp', '/health', '/metrics', '/']) expect((await get(path)).status).toBe(404);
    expect((await get('/mcp', {}, 'POST')).status).toBe(404);
  });

  it('closes after an hour without a page, and forgets its links and cookies', async () => {
    const { visit, connect, clock, page, address } = await servePage();
    const visitor = await visit();
    const client = await connect(visitor);
    for (let half = 0; half <= 121; half += 1) {
      const pinged = new Promise((resolve) => client.socket.once('ping', resolve));
      clock.advance(30_000);
      await pinged;
      // the browser's answer to the ping is there before that to this
      await client.request('ping');
    }
    expect(await isListening(address.port)).toBe(true);
    client.socket.close();
    await client.closed;
    await until(() => (page.requests as Dashboard).pages === 0);
    clock.advance(3_599_999);
    expect(await isListening(address.port)).toBe(true);
    clock.advance(1);
    await until(async () => !(await isListening(address.port)));
    const { host, port } = new URL((await page.link()).url);
    const [, secret] = visitor.cookie.split('=');
    const headers = { Cookie: `toolherd-${port}=${secret}`, Host: host };
    const next = { host: '127.0.0.1', port: Number(port) };
    expect((await ask(next, visitor.path, { headers })).status).toBe(403);
  });

  it('is that of daemon.http where the config has one', async () => {
    const { page } = await servePage({ configured: 'http://127.0.0.1:1' });
    expect((await page.link()).url).toMatch(/^http:\/\/127\.0\.0\.1:1\/ui\/open\?key=[\w-]{43}$/);
  });
});

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectSocket(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
