import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { config, server } from '../../faults/config.js';
import { makeFolder } from '../../support/folder.js';
import { until } from '../../support/until.js';
import { describeInBrowser, goTo, isLive, openHerd, openPage, openWindow } from './browser.js';

const PAINTED_MS = 300;
const MOST_LOADS = 10;

describeInBrowser('the page', () => {
  it('asks for everything anew when it was too slow for some events', async () => {
    const herd = await openHerd(config([server('good', 'good.mjs')]));
    const window = await openWindow(herd);
    const asked: string[] = [];
    let tell: (message: string) => void = () => undefined;
    await window.routeWebSocket(/socket$/, (page) => {
      const daemon = page.connectToServer();
      page.onMessage((message) => {
        asked.push((JSON.parse(String(message)) as { method: string }).method);
        daemon.send(message);
      });
      tell = (message) => page.send(message);
    });
    const page = await openPage(herd, window);
    const count = (method: string) => asked.filter((one) => one === method).length;
    // the last request of a new connection
    await until(() => count('fleet/status') === 1);
    await goTo(page, '#/calls');
    await until(() => count('fleet/audit') === 1);
    const before = count('fleet/status');
    tell('{"jsonrpc":"2.0","method":"fleet/dropped","params":{"events":7}}');
    await until(() => count('fleet/audit') === 2);
    await until(() => count('fleet/status') > before);
  });

  it('shows a tool as it is now, also where only its description changed', async () => {
    const tool = (description: string) => ({
      name: 'announce',
      description,
      inputSchema: { type: 'object' },
    });
    const folder = makeFolder({ 'tools.json': JSON.stringify([tool('as it was')]) });
    const file = join(folder, 'tools.json');
    const args = [file, join(folder, 'ran')];
    const herd = await openHerd(config([server('changing', 'changes.mjs', { args })]));
    await herd.fleet.start({ all: true }, true);
    const page = await openPage(herd);
    await goTo(page, '#/server/changing?tab=tools&tool=announce');
    await page
      .getByRole('button', { name: /^announce/ })
      .getByText('as it was')
      .waitFor();
    // after the second change as many tools differ from their pins as after the first
    for (const description of ['as it became', 'as it is now']) {
      writeFileSync(file, JSON.stringify([tool(description)]));
      await herd.say('changing', 'announce');
      await page
        .getByRole('button', { name: /^announce/ })
        .getByText(description)
        .waitFor();
    }
    expect(await page.getByText('as it was').count()).toBe(0);
  });

  it('hears of calls only where it shows them, and shows each as it ends', async () => {
    const herd = await openHerd(config([server('good', 'good.mjs')]));
    await herd.fleet.start({ all: true }, true);
    const window = await openWindow(herd);
    const heard: string[] = [];
    const calls: (string | undefined)[] = [];
    const asked = new Map<unknown, string>();
    /** The last order about events of calls that the daemon has answered. */
    let answered: string | undefined;
    await window.routeWebSocket(/socket$/, (page) => {
      const daemon = page.connectToServer();
      page.onMessage((message) => {
        const { id, method, params } = JSON.parse(String(message)) as {
          id: unknown;
          method: string;
          params?: { topics?: string[] };
        };
        if (params?.topics?.includes('call')) asked.set(id, method);
        daemon.send(message);
      });
      daemon.onMessage((message) => {
        const { id, params } = JSON.parse(String(message)) as {
          id?: unknown;
          params?: { topic?: string; tool?: string };
        };
        if (params?.topic === 'call') calls.push(params.tool);
        else if (params?.topic !== undefined) heard.push(params.topic);
        answered = asked.get(id) ?? answered;
        page.send(message);
      });
    });
    const page = await openPage(herd, window);
    await page.getByRole('link', { name: 'good' }).waitFor();
    await herd.say('good', 'echo', { value: 'unheard' });
    await goTo(page, '#/calls');
    const rows = page.locator('.call-list tbody tr');
    await until(async () => (await rows.count()) === 1);
    await until(() => answered === 'fleet/subscribe');
    await herd.say('good', 'refuse');
    await rows.first().getByText('refuse').waitFor();
    expect(calls.filter((tool) => tool === 'refuse')).toHaveLength(1);
    await goTo(page, '#/herd');
    await until(() => answered === 'fleet/unsubscribe');
    const before = calls.length;
    // the order of a restart comes after the calls before it
    await herd.say('good', 'echo', { value: 'unheard' });
    await herd.fleet.restart({ servers: ['good'] }, true);
    await until(() => heard.at(-1) === 'state' || heard.at(-1) === 'catalog');
    expect(calls).toHaveLength(before);
  });

  it('is painted within 300 ms', async () => {
    const herd = await openHerd(config([server('good', 'good.mjs')]));
    const page = await openPage(herd);
    let fastestMs = Number.POSITIVE_INFINITY;
    // a machine with other work slows down some of the loads, hardly all
    for (let load = 0; load < MOST_LOADS && fastestMs > PAINTED_MS; load += 1) {
      await page.reload();
      await isLive(page);
      const [paint] = await page.evaluate(() => {
        const entries = performance.getEntriesByName('first-contentful-paint');
        return entries.map(({ startTime }) => startTime);
      });
      fastestMs = Math.min(fastestMs, paint ?? Number.POSITIVE_INFINITY);
    }
    expect(fastestMs).toBeLessThanOrEqual(PAINTED_MS);
  });
});
