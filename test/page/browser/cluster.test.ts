import { expect, it } from 'vitest';
import { noCluster } from '../../../src/fleet/fleet.js';
import { config, server } from '../../faults/config.js';
import { until } from '../../support/until.js';
import { describeInBrowser, goTo, openPage, openWindow, shareHerd } from './browser.js';
import { clusterOf, fakeCluster, node } from './fake-cluster.js';

const HERD = config([server('good', 'good.mjs')]);
const NODES = [
  node('desk', {
    self: true,
    latency_ms: null,
    servers: [{ name: 'good', state: 'connected', in_flight: 0, cluster: false }],
  }),
  node('gpu', {
    servers: [
      { name: 'embed', state: 'connected', in_flight: 3, cluster: true },
      { name: 'good', state: 'created', in_flight: 0, cluster: false },
    ],
  }),
  node('old', { state: 'away', version: null, latency_ms: null }),
];

describeInBrowser('the page Cluster', () => {
  const shared = shareHerd(HERD);
  const openCluster = async (status = clusterOf(NODES)) => {
    const herd = shared();
    const window = await openWindow(herd);
    const cluster = await fakeCluster(window, status);
    const page = await openPage(herd, window);
    await goTo(page, '#/cluster');
    await page.getByRole('heading', { name: 'Cluster', level: 1 }).waitFor();
    return { page, cluster };
  };

  it('has a row for each node, and one for each server that nodes share', async () => {
    const { page, cluster } = await openCluster();
    const nodes = page.getByRole('table', { name: 'Nodes of the cluster' });
    await nodes.getByRole('row').nth(3).waitFor();
    const textOf = async (name: string) => (await nodes.getByRole('row', { name }).textContent()) ?? '';
    expect(await textOf('desk')).toMatch(/this node · toolherd 1\.2\.3.*up/);
    expect(await textOf('gpu')).toMatch(/0\.4 ms.*3.*embed connected, 3 calls.*good created/);
    expect(await textOf('old')).toMatch(/away.*no server/);
    const servers = page.getByRole('table', { name: 'Servers that nodes share' });
    expect(await servers.getByRole('row', { name: 'embed' }).textContent()).toContain('the least busy node');
    const good = servers.getByRole('row', { name: 'good' });
    expect(await good.textContent()).toMatch(/this node first.*desk connected.*gpu created/);
    expect(await good.getByRole('link', { name: 'good' }).getAttribute('href')).toBe('#/server/good');
    await page.getByRole('searchbox', { name: 'Filter shared servers' }).fill('emb');
    await good.waitFor({ state: 'detached' });
    cluster.status = clusterOf([...NODES.slice(0, 2), node('late')]);
    await nodes.getByRole('row', { name: 'late' }).waitFor();
  });

  it('drains and undrains this node after a question, by keys alone', async () => {
    const { page, cluster } = await openCluster();
    const drain = page.getByRole('button', { name: 'Drain desk' });
    await drain.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Drain desk?' });
    expect(await dialog.textContent()).toContain('Agents of this machine go on');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(cluster.orders).toEqual([]);
    // the focus returns to the button
    await until(() => drain.evaluate((button) => button === document.activeElement));
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Drain' }).click();
    await page.getByRole('status', { name: 'What happened' }).getByText('desk is draining').waitFor();
    await page.getByRole('button', { name: 'Undrain desk' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Undrain' }).click();
    await drain.waitFor();
    expect(cluster.orders).toEqual(['fleet/cluster_drain', 'fleet/cluster_undrain']);
  });

  it('says why NATS is away, and what to do', async () => {
    const lost = { state: 'lost', why: 'connection refused by 127.0.0.1:4222', fix: 'start it' } as const;
    const { page } = await openCluster(clusterOf([], lost));
    const alert = page.getByRole('main').getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/is lost.*Servers of this machine go on.*refused.*start it/s);
  });

  it('says how to have a cluster where there is none, and the navigation does without the page', async () => {
    const page = await openPage(shared());
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Herd' }).waitFor();
    expect(await page.getByRole('link', { name: 'Cluster' }).count()).toBe(0);
    await goTo(page, '#/cluster');
    await page.getByText('This daemon is in no cluster.').waitFor();
    const { page: broken } = await openCluster(noCluster({ why: 'config.yaml:3: x', fix: 'set it' }));
    await broken.getByText('The cluster of the config is not used.').waitFor();
  });

  it('shows texts of other nodes as texts', async () => {
    const markup = `<img src=x onerror="globalThis.ran='node'">`;
    const evil = node(markup, {
      version: markup,
      servers: [{ name: markup, state: 'connected', in_flight: 0, cluster: false }],
    });
    const { page } = await openCluster(
      clusterOf([evil], { node: markup, name: markup, why: markup, fix: markup }),
    );
    await page.getByText(markup).first().waitFor();
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.evaluate(() => (globalThis as unknown as { ran?: string }).ran)).toBeUndefined();
  });

  it('is greyed when the daemon is lost, and its button is off', async () => {
    const { page, cluster } = await openCluster();
    await page.getByRole('button', { name: 'Drain desk' }).waitFor();
    await cluster.lose();
    await page.locator('main.stale').waitFor();
    expect(await page.getByRole('button', { name: 'Drain desk' }).isDisabled()).toBe(true);
  });
});
