import { expect, it } from 'vitest';
import { config, server } from '../../faults/config.js';
import { seen, until } from '../../support/until.js';
import { describeInBrowser, isLive, openHerd, openPage, openWindow, shareHerd } from './browser.js';

/** It stays as it is after its first failure. */
const NO_RESTART = { max_restarts: 0 };
const HERD = config([server('good', 'good.mjs', NO_RESTART), server('other', 'good.mjs')]);
const LOST_MS = 2000;
/** A machine that is busy at the wrong moment gets another chance. */
const ROUNDS = 4;

describeInBrowser('the page Herd', () => {
  const shared = shareHerd(HERD);

  it('is opened by a link, which is gone from the address bar and works once', async () => {
    const herd = shared();
    const { url } = await herd.fleet.ui();
    const page = await (await openWindow(herd)).newPage();
    await page.goto(url);
    await isLive(page);
    expect(new URL(page.url()).pathname).toMatch(/^\/ui\/[\w-]{22}\/$/);
    expect(page.url()).not.toContain('key');
    expect(await page.evaluate(() => [document.cookie, document.referrer])).toEqual(['', '']);
    await page.reload();
    await isLive(page);
    const stranger = await (await openWindow(herd)).newPage();
    const again = await stranger.goto(url);
    expect(again?.status()).toBe(403);
    expect(await stranger.locator('body').textContent()).toContain('run "toolherd ui" for a new link');
    expect((await stranger.goto(page.url()))?.status()).toBe(403);
  });

  it('a server that is killed changes at once, with the cause', async () => {
    const herd = shared();
    const page = await openPage(herd);
    const row = page.getByRole('row').filter({ hasText: 'good' });
    await herd.fleet.start({ servers: ['good'] }, true);
    await row.getByText('running').waitFor();
    process.kill(Number(await herd.say('good', 'pid')), 'SIGKILL');
    const matter = page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem');
    await matter.getByText('SIGKILL').waitFor();
    const text = await matter.textContent();
    expect(text).toContain('good');
    expect(text).toContain('quarantined');
    expect(await row.textContent()).not.toContain('running');
    await matter.getByRole('button', { name: 'Reset good' }).click();
    await page.getByRole('dialog', { name: 'Reset good?' }).getByRole('button', { name: 'Reset' }).click();
    await row.getByText('running').waitFor();
    await matter.waitFor({ state: 'detached' });
  });

  it('an order asks first, and says what the server became', async () => {
    const herd = shared();
    await herd.fleet.start({ servers: ['other'] }, true);
    const page = await openPage(herd);
    const row = page.getByRole('row').filter({ hasText: 'other' });
    const said = page.getByRole('status', { name: 'What happened' });
    const dialog = page.getByRole('dialog', { name: 'Stop other?' });
    await row.getByRole('button', { name: 'Stop other' }).click();
    expect(await dialog.textContent()).toContain('It stays stopped');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await herd.status('other')).detail).toBe('running');
    await row.getByRole('button', { name: 'Stop other' }).click();
    await dialog.getByRole('button', { name: 'Stop' }).click();
    await said.getByText('Stopped other.').waitFor();
    await row.getByText('stopped').waitFor();
    expect((await herd.status('other')).detail).toBe('stopped');
    await row.getByRole('button', { name: 'Start other' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
    await said.getByText(/^Started other: it is running, with \d+ tools\.$/).waitFor();
  });
});

describeInBrowser('the page of a daemon that is in trouble', () => {
  it('a daemon that hangs is lost within 2 s, and the page greys; it returns with a fresh picture', async () => {
    const herd = await openHerd(HERD);
    await herd.fleet.start({ servers: ['good'] }, true);
    const pid = Number(await herd.say('good', 'pid'));
    const page = await openPage(herd);
    const row = page.getByRole('row').filter({ hasText: 'good' });
    const banner = page.getByRole('alert').filter({ hasText: 'The page lost the daemon' });
    await row.getByText('running').waitFor();
    // the page itself notes when it says so: the test may be late
    await page.evaluate(() => {
      const noted = globalThis as unknown as { lostAt: number };
      new MutationObserver(() => {
        if (document.querySelector('.banner.bad') === null) noted.lostAt = 0;
        else noted.lostAt ||= Date.now();
      }).observe(document.body, { subtree: true, childList: true });
    });
    const hang = async () => {
      const at = Date.now();
      herd.daemon.kill('SIGSTOP');
      await banner.waitFor();
      return (await page.evaluate(() => (globalThis as unknown as { lostAt: number }).lostAt)) - at;
    };
    let lostMs = await hang();
    expect(await banner.textContent()).toContain('the daemon does not answer');
    const main = page.locator('main');
    expect(await main.evaluate((element) => getComputedStyle(element).filter)).toContain('grayscale');
    expect(await row.getByRole('button').first().isDisabled()).toBe(true);
    // nothing is shown that the page cannot know
    process.kill(pid, 'SIGKILL');
    expect(await row.textContent()).toContain('running');
    herd.daemon.kill('SIGCONT');
    await isLive(page);
    await banner.waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Needs attention' }).getByText('SIGKILL').waitFor();
    expect(await main.evaluate((element) => getComputedStyle(element).filter)).toBe('none');
    for (let round = 1; lostMs > LOST_MS && round < ROUNDS; round += 1) {
      lostMs = Math.min(lostMs, await hang());
      herd.daemon.kill('SIGCONT');
      await isLive(page);
      await banner.waitFor({ state: 'detached' });
    }
    expect(lostMs).toBeLessThanOrEqual(LOST_MS);
  });

  it('a daemon that ends is said to have been stopped', async () => {
    const herd = await openHerd(HERD);
    const page = await openPage(herd);
    // then the page has asked for the notice of the end
    await page.getByRole('link', { name: 'good' }).waitFor();
    herd.daemon.kill('SIGTERM');
    const banner = page.getByRole('alert').filter({ hasText: 'The page lost the daemon' });
    await banner.waitFor();
    await until(async () => seen(await banner.textContent())?.includes('it was stopped'));
    expect(await page.locator('header .live').textContent()).toBe('lost');
  });
});
