import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { config, server } from '../../faults/config.js';
import { until } from '../../support/until.js';
import { describeInBrowser, everything, goTo, openPage, shareHerd } from './browser.js';

const HERD = config([everything(), server('good', 'good.mjs'), server('chatty', 'chatty.mjs')]);

const result = (page: Page) => page.getByRole('region', { name: 'Result', exact: true });

async function chooseTool(page: Page, name: string, tool: string): Promise<void> {
  await goTo(page, `#/server/${name}?tab=tools&tool=${tool}`);
  await page.getByRole('form', { name: `Try ${tool}` }).waitFor();
}

describeInBrowser('the page of a server', () => {
  const shared = shareHerd(HERD);

  it('its form checks the arguments, calls the tool and shows the result', async () => {
    const page = await openPage(shared());
    await chooseTool(page, 'everything', 'get-sum');
    const call = page.getByRole('button', { name: 'Call get-sum' });
    const before = (await shared().status('everything')).calls;
    await page.getByLabel(/^a\b/).fill('two');
    await call.click();
    await page.getByText(/fields? (is|are) wrong/).waitFor();
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-invalid'))).toBe('true');
    expect((await shared().status('everything')).calls).toBe(before);
    await page.getByLabel(/^a\b/).fill('2');
    await page.getByLabel(/^b\b/).fill('3');
    await call.click();
    await result(page).getByText('The sum of 2 and 3 is 5.').waitFor();
  });

  it('an image of a tool appears', async () => {
    const page = await openPage(shared());
    await chooseTool(page, 'everything', 'get-tiny-image');
    await page.getByRole('button', { name: 'Call get-tiny-image' }).click();
    const image = result(page).getByRole('img');
    await image.waitFor();
    await until(() => image.evaluate((element) => (element as HTMLImageElement).naturalWidth > 0));
    expect(await image.getAttribute('src')).toMatch(/^data:image\/png;base64,/);
  });

  it('a long call shows its progress, and ends when it is cancelled', async () => {
    const { status } = shared();
    const page = await openPage(shared());
    await chooseTool(page, 'everything', 'trigger-long-running-operation');
    await page.getByLabel(/^duration\b/).fill('60');
    await page.getByLabel(/^steps\b/).fill('300');
    await page.getByRole('button', { name: 'Call trigger-long-running-operation' }).click();
    const bar = page.getByRole('progressbar', { name: 'Progress of the call' });
    await page.getByText(/^[1-9]\d* of 300/).waitFor();
    expect(Number(await bar.getAttribute('value'))).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('You cancelled the call. The tool may have run.').waitFor();
    await until(async () => (await status('everything')).in_flight === 0);
    expect(await bar.count()).toBe(0);
  });

  it('its statecharts have the present state lit, also after it changed', async () => {
    const { fleet } = shared();
    await fleet.start({ servers: ['good'] }, true);
    const page = await openPage(shared());
    await goTo(page, '#/server/good');
    const lit = page.locator('svg .state.lit text');
    const isLit = async (present: string) => {
      await page.getByRole('img', { name: `The server is in the state ${present}` }).waitFor();
      return lit.allTextContents();
    };
    const running = await isLit('connected.serving');
    expect(running).toHaveLength(2);
    expect(running[1]).toBe('serving');
    expect(await page.locator('svg .edge.taken').count()).toBe(2);
    await fleet.stop({ servers: ['good'] }, true);
    await until(async () => (await lit.allTextContents())[0] === 'stopped');
    expect(await lit.allTextContents()).not.toContain('serving');
  });

  it('its log follows, by level and by words', async () => {
    const { say } = shared();
    const page = await openPage(shared());
    await say('chatty', 'print', { line: 'before the look', stream: 'stderr' });
    await goTo(page, '#/server/chatty?tab=logs');
    const log = page.getByRole('log');
    await log.getByText('before the look').waitFor();
    await say('chatty', 'print', { line: 'during the look', stream: 'stderr' });
    await log.getByText('during the look').waitFor();
    await say('chatty', 'log', { messages: [{ level: 'error', data: 'a loud word' }] });
    await log.getByText('a loud word').waitFor();
    await page.getByLabel('Level').selectOption('error');
    await log.getByText('during the look').waitFor({ state: 'detached' });
    expect(await log.textContent()).toContain('a loud word');
    await page.getByLabel('Level').selectOption('trace');
    await page.getByLabel('Search the log').fill('during');
    await log.getByText('a loud word').waitFor({ state: 'detached' });
    expect(await log.textContent()).toContain('during the look');
  });
});
