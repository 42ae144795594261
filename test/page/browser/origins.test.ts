import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { config, server } from '../../faults/config.js';
import { atEnd } from '../../support/share.js';
import { until } from '../../support/until.js';
import { describeInBrowser, isLive, type Opened, openPage, openWindow, shareHerd } from './browser.js';

/** A program on another port of the same address, whose page may do all that a page may do. */
async function startNeighbour() {
  const cookies: unknown[] = [];
  const program = createServer((request, response) => {
    cookies.push(request.headers.cookie);
    response.setHeader('Content-Type', 'text/html');
    response.end('<!doctype html><title>neighbour</title><p>neighbour</p>');
  });
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    program.closeAllConnections();
    program.close();
  });
  const { port } = program.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/`, cookies };
}

/** A person has the page of the herd and that of the neighbour in one window, and the neighbour knows the address. */
async function openBoth(herd: Opened) {
  const window = await openWindow(herd);
  const page = await openPage(herd, window);
  const neighbour = await startNeighbour();
  const other = await window.newPage();
  await other.goto(neighbour.url);
  return { page, other, cookies: neighbour.cookies, address: page.url().replace(/#.*/, '') };
}

describeInBrowser('a page of another port of 127.0.0.1', () => {
  const shared = shareHerd(config([server('good', 'good.mjs')]));

  it('reads nothing of the page, and never gets its cookie', async () => {
    const { other, cookies, address } = await openBoth(shared());
    const outcomes = await other.evaluate(async (url) => {
      const attempt = (path: string, options: RequestInit) =>
        fetch(url + path, options).then(
          async (answer) => (answer.type === 'opaque' ? 'opaque' : `${answer.status} ${await answer.text()}`),
          (error: Error) => error.name,
        );
      return [
        await attempt('', { credentials: 'include' }),
        await attempt('charts.json', { credentials: 'include' }),
        await attempt('', { credentials: 'include', mode: 'no-cors' }),
        await attempt('', { credentials: 'include', method: 'POST', body: '{}' }),
      ];
    }, address);
    expect(outcomes).toEqual(['TypeError', 'TypeError', 'TypeError', 'TypeError']);
    const isRun = await other.evaluate(
      (url) =>
        new Promise((resolve) => {
          const script = document.createElement('script');
          script.src = `${url}app.js`;
          script.onload = () => resolve('run');
          script.onerror = () => resolve('refused');
          document.head.append(script);
        }),
      address,
    );
    expect(isRun).toBe('refused');
    expect(await other.evaluate(() => document.cookie)).toBe('');
    expect(cookies.length).toBeGreaterThan(0);
    expect(new Set(cookies)).toEqual(new Set([undefined]));
  });

  it('opens no WebSocket', async () => {
    const { page, other, address } = await openBoth(shared());
    const open = (url: string) =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(url);
        socket.onopen = () => resolve('open');
        socket.onerror = () => resolve('refused');
      });
    const url = `${address.replace(/^http/, 'ws')}socket`;
    expect(await other.evaluate(open, url)).toBe('refused');
    // the same line in the page of the herd
    expect(await page.evaluate(open, url)).toBe('open');
  });

  it('puts no frame around the page, so no click can be stolen', async () => {
    const { page, other, address } = await openBoth(shared());
    for (const markup of ['<iframe src="URL">', '<object data="URL">', '<embed src="URL">']) {
      const asked = other.waitForRequest(address);
      await other.setContent(markup.replace('URL', address), { waitUntil: 'commit' });
      expect((await (await asked).response())?.status(), markup).toBe(403);
    }
    // its own page gets the answer, and the browser refuses to show it in a frame
    const asked = page.waitForRequest(address);
    await page.evaluate((url) => {
      const inner = document.createElement('iframe');
      inner.src = url;
      document.body.append(inner);
    }, address);
    expect((await (await asked).response())?.headers()).toMatchObject({ 'x-frame-options': 'DENY' });
    await until(() => page.frames()[1]?.url().startsWith('chrome-error:'));
  });

  it('a window that it opens shows nothing of the herd, and the page itself still works', async () => {
    const { page, other, address } = await openBoth(shared());
    const [popup] = await Promise.all([
      other.waitForEvent('popup'),
      other.evaluate((url) => void window.open(url), address),
    ]);
    await popup.waitForLoadState();
    expect(await popup.locator('body').textContent()).not.toContain('good');
    expect(await popup.locator('header .live').count()).toBe(0);
    await page.reload();
    await isLive(page);
  });
});
