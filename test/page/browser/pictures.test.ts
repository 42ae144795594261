import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeInBrowser, goTo, openPage, openWindow } from './browser.js';
import { fakeCluster } from './fake-cluster.js';
import { CLUSTER, openHerdOfPages, PAGES } from './pages.js';

const FOLDER = join(import.meta.dirname, 'pictures');
/** Of all points. One more line of text is more than that. */
const MOST_DIFFERENT = 0.005;
/** Half the size shows what moved, and is a quarter of the bytes. */
const OPTIONS = { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 0.5 };

/**
 * What differs from run to run becomes the same: numbers, times, temporary folders, curves. It runs in the browser, where
 * the clock stands still, so nothing draws it anew.
 */
function settle(): void {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    node.nodeValue = (node.nodeValue ?? '')
      .replaceAll(/\/[^\s]*\/(?=[\w.-]+)/g, '/')
      .replaceAll(/\d+(\.\d+)*\s?(ms|MB|kB|h|m|s)?/g, '0')
      // a number that is not known yet
      .replace(/^–$/, '0');
  }
  for (const drawn of document.querySelectorAll<HTMLElement>('canvas, .u-axis'))
    drawn.style.visibility = 'hidden';
  for (const drawn of document.querySelectorAll<HTMLElement>('.spark')) drawn.style.display = 'none';
}

/** The share of points that differ, by a canvas of the browser. */
function compare(page: Page, pictures: readonly [Buffer, Buffer]): Promise<number> {
  return page.evaluate(
    async (sources) => {
      const [before, after] = (await Promise.all(
        sources.map(async (source) => {
          const image = new Image();
          image.src = source;
          await image.decode();
          const canvas = new OffscreenCanvas(image.width, image.height);
          const drawing = canvas.getContext('2d')!;
          drawing.drawImage(image, 0, 0);
          return drawing.getImageData(0, 0, image.width, image.height);
        }),
      )) as [ImageData, ImageData];
      if (before.width !== after.width || before.height !== after.height) return 1;
      let different = 0;
      for (let at = 0; at < before.data.length; at += 4) {
        const by = [0, 1, 2].map((channel) =>
          Math.abs(before.data[at + channel]! - after.data[at + channel]!),
        );
        if (Math.max(...by) > 48) different += 1;
      }
      return different / (before.width * before.height);
    },
    pictures.map((picture) => `data:image/png;base64,${picture.toString('base64')}`),
  );
}

describeInBrowser('every page', () => {
  it('looks as it did, light and dark (UPDATE_PICTURES=1 keeps what it looks like now)', async () => {
    const herd = await openHerdOfPages();
    const window = await openWindow(herd, OPTIONS);
    await window.clock.install();
    await fakeCluster(window, CLUSTER);
    const page = await openPage(herd, window);
    const blank = await (await openWindow(herd)).newPage();
    const changed: string[] = [];
    mkdirSync(FOLDER, { recursive: true });
    for (const [name, [address, selector]] of Object.entries(PAGES)) {
      await goTo(page, address);
      await page.locator(selector).first().waitFor();
      await window.clock.pauseAt(Date.now() + 1000);
      await page.evaluate(settle);
      for (const theme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme: theme });
        const file = join(FOLDER, `${name}-${theme}.png`);
        const picture = await page.screenshot({ animations: 'disabled' });
        if (process.env.UPDATE_PICTURES === '1') writeFileSync(file, picture);
        const share = await compare(blank, [readFileSync(file), picture]);
        if (share > MOST_DIFFERENT) changed.push(`${name}-${theme}: ${(100 * share).toFixed(1)} % differ`);
      }
      await window.clock.resume();
    }
    expect(changed).toEqual([]);
  });
});
