import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeInBrowser, goTo, openPage, openWindow } from './browser.js';
import { fakeCluster } from './fake-cluster.js';
import { CLUSTER, openHerdOfPages, PAGES } from './pages.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** The rules that another theme can break. */
const OF_COLOURS: RunOptions = { runOnly: ['color-contrast', 'link-in-text-block'] };

/** What axe-core calls serious or critical, each with the elements. */
async function findFaults(page: Page, options: RunOptions = {}): Promise<string[]> {
  const { violations, passes } = await page.evaluate(
    (given) => (globalThis as unknown as { axe: { run(o: object): Promise<AxeResults> } }).axe.run(given),
    { resultTypes: ['violations'], ...options } as object,
  );
  expect(passes.length).toBeGreaterThan(0);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`);
}

describeInBrowser('axe-core', () => {
  it('finds no serious or critical fault on any page, light and dark', async () => {
    const herd = await openHerdOfPages();
    const window = await openWindow(herd);
    await window.addInitScript({ content: AXE });
    await fakeCluster(window, CLUSTER);
    const page = await openPage(herd, window);
    const found: Record<string, string[]> = {};
    for (const [address, selector] of Object.values(PAGES)) {
      await goTo(page, address);
      await page.locator(selector).first().waitFor();
      await page.emulateMedia({ colorScheme: 'light' });
      found[`${address} light`] = await findFaults(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      found[`${address} dark`] = await findFaults(page, OF_COLOURS);
    }
    await goTo(page, '#/herd');
    await page.getByRole('button', { name: 'Stop good' }).click();
    await page.getByRole('dialog').waitFor();
    found.dialog = await findFaults(page);
    expect(Object.fromEntries(Object.entries(found).filter(([, faults]) => faults.length > 0))).toEqual({});
  });
});
