import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { config, server } from '../../faults/config.js';
import { seen, until } from '../../support/until.js';
import { describeInBrowser, everything, openPage, shareHerd } from './browser.js';

const HERD = config([everything(), server('good', 'good.mjs'), server('other', 'good.mjs')]);
/** More than any page has stops. */
const MOST_STOPS = 120;

/** The accessible name of what has the focus; `body` where the focus is lost. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (element === null || element === document.body) return 'body';
    return element.getAttribute('aria-label') ?? element.textContent?.trim() ?? '';
  });
}

/** Presses Tab until the focus is on what has this name. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const passed: string[] = [];
  const isThere = (now: string) => (typeof name === 'string' ? now === name : name.test(now));
  for (let stop = 0; stop < MOST_STOPS; stop += 1) {
    await page.keyboard.press('Tab');
    const now = await focused(page);
    if (isThere(now)) return;
    passed.push(now);
  }
  throw new Error(`Tab never came to ${name}; it passed ${passed.join(', ')}`);
}

const comesTo = (page: Page, name: string | RegExp) =>
  until(async () => {
    const now = seen(await focused(page));
    return typeof name === 'string' ? now === name : name.test(now);
  });

describeInBrowser('the page without a mouse', () => {
  const shared = shareHerd(HERD);

  it('a server is found by the filter and opened, and its tool is called', async () => {
    const page = await openPage(shared());
    await page.getByRole('link', { name: 'everything' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Filter servers');
    await page.keyboard.type('every');
    await page.getByRole('link', { name: 'good', exact: true }).waitFor({ state: 'detached' });
    await tabTo(page, 'everything');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'everything' }).waitFor();
    await comesTo(page, 'everything');
    await tabTo(page, /^Overview/);
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tab', { name: /^Tools/, selected: true }).waitFor();
    await comesTo(page, /^Tools/);
    await page.getByRole('button', { name: /^echo/ }).waitFor();
    await tabTo(page, /^echo/);
    await page.keyboard.press('Enter');
    await page.getByRole('form', { name: 'Try echo' }).waitFor();
    await tabTo(page, 'Form');
    await tabTo(page, 'JSON');
    await page.keyboard.press('Tab');
    await page.keyboard.type('by hand');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('region', { name: 'Result', exact: true }).getByText('Echo: by hand').waitFor();
  });

  it('Escape closes a question, and the focus returns to its button', async () => {
    const { fleet, status } = shared();
    await fleet.start({ servers: ['good'] }, true);
    const page = await openPage(shared());
    await page.getByRole('button', { name: 'Stop good' }).waitFor();
    await tabTo(page, 'Stop good');
    await page.keyboard.press('Enter');
    const question = page.getByRole('dialog', { name: 'Stop good?' });
    await question.waitFor();
    // a question that interrupts something is not answered by the same key
    await comesTo(page, 'Cancel');
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    await comesTo(page, 'Stop good');
    expect((await status('good')).detail).toBe('running');
  });

  it('an order whose button disappears leaves the focus on the next order of that server', async () => {
    const { fleet } = shared();
    await fleet.start({ servers: ['other'] }, true);
    const page = await openPage(shared());
    await page.getByRole('button', { name: 'Stop other' }).waitFor();
    await tabTo(page, 'Stop other');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Stop other?' }).waitFor();
    await comesTo(page, 'Cancel');
    await tabTo(page, 'Stop');
    await page.keyboard.press('Enter');
    await page.getByText('Stopped other.').waitFor();
    await comesTo(page, 'Start other');
    await page.keyboard.press('Enter');
    await comesTo(page, 'Start');
    await page.keyboard.press('Enter');
    await page.getByText(/^Started other/).waitFor();
    await comesTo(page, /^(Restart|Stop) other$/);
    await page.keyboard.press('Tab');
    expect(await focused(page)).not.toBe('body');
  });
});
