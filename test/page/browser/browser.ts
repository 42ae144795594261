import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { describe } from 'vitest';
import { launchBrowser } from '../../../scripts/shared/browser.mjs';
import { command, type Entry } from '../../faults/config.js';
import { type Herd, type HerdOptions, startHerd } from '../../support/herd.js';
import { ROOT } from '../../support/run.js';
import { atEnd, share } from '../../support/share.js';
import { PATIENCE_MS } from '../../support/until.js';

/** Why no browser starts here; undefined where one does. */
async function whyNoBrowser(): Promise<string | undefined> {
  try {
    await (await launchBrowser()).close();
    return undefined;
  } catch (error) {
    return String((error as Error).message.split('\n')[0]);
  }
}

const why = await whyNoBrowser();

/** Tests in a real browser. Where none starts, the run says which were left out. */
export function describeInBrowser(title: string, define: () => void): void {
  if (why !== undefined) console.warn(`left out, because no browser starts here (${why}): ${title}`);
  describe.runIf(why === undefined)(title, define);
}

export interface Opened extends Herd {
  browser: Browser;
}

/** A real herd, and a browser that all tests of a describe use. */
export function shareHerd(text: string): () => Opened {
  return share(async () => openHerd(text));
}

export async function openHerd(text: string, options?: HerdOptions): Promise<Opened> {
  const herd = await startHerd(text, options);
  const browser = await launchBrowser();
  atEnd(() => browser.close());
  return { ...herd, browser };
}

/** The window of one person: its cookies are those of no other window. */
export async function openWindow(
  { browser }: Opened,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  atEnd(() => context.close());
  context.setDefaultTimeout(PATIENCE_MS);
  return context;
}

/** Opens a link of the daemon. Resolves when the page is live. */
export async function openPage(herd: Opened, window?: BrowserContext): Promise<Page> {
  const page = await (window ?? (await openWindow(herd))).newPage();
  await page.goto((await herd.fleet.ui()).url);
  await isLive(page);
  return page;
}

export async function isLive(page: Page): Promise<void> {
  await page.locator('.top .live.good').waitFor();
}

/** Goes to `#/…` of the page. */
export async function goTo(page: Page, address: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, address);
}

/** A published server that offers something of every kind. */
export function everything(fields: Record<string, unknown> = {}): Entry {
  const file = join(ROOT, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
  return command('everything', process.execPath, [file, 'stdio'], fields);
}
