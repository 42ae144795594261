import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { config, server } from '../../faults/config.js';
import { RawClient } from '../../ipc/support.js';
import { type Published, startRegistry } from '../../registry/server.js';
import { describeInBrowser, goTo, type Opened, openHerd, openPage } from './browser.js';

const HERD = config([server('evil', 'markup.mjs', { max_restarts: 0 })]);
/** As in test/fixtures/markup.mjs. */
const markup = (field: string) =>
  `${field}<img src=x onerror="globalThis.ran='${field}'"><script>globalThis.ran='${field}'</script>`;

/** A page that notes what a text of a server made it do. */
async function openWatched(herd: Opened) {
  const page = await openPage(herd);
  const { origin } = new URL(page.url());
  const faults: string[] = [];
  page.on('request', (request) => {
    const isOwn = request.url().startsWith(`${origin}/`) || request.url().startsWith('data:');
    if (!isOwn) faults.push(`asked for ${request.url()}`);
  });
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('dialog', (dialog) => faults.push(`dialog ${dialog.message()}`));
  page.on('popup', (popup) => faults.push(`opened ${popup.url()}`));

  /** Each of these texts is there with its markup, as text, and in sight. */
  const sees = async (...fields: string[]) => {
    const isSeen = async (field: string) => {
      const text = page.getByText(`${field}<img src=x onerror=`).filter({ visible: true });
      await text
        .first()
        .waitFor()
        .catch(() => faults.push(`does not show ${field}`));
    };
    await Promise.all(fields.map(isSeen));
    expect(await misdeeds(page)).toEqual({ ran: null, elements: [] });
    expect(faults).toEqual([]);
  };
  return { page, sees };
}

function misdeeds(page: Page) {
  return page.evaluate(() => ({
    ran: (globalThis as unknown as { ran?: string }).ran ?? null,
    elements: [
      ...document.querySelectorAll('img, iframe, body script, [onerror], [onload], [href^="javascript:" i]'),
    ].map((element) => element.outerHTML),
  }));
}

describeInBrowser('a server whose every text is markup', () => {
  it('runs nothing on its page: tools, forms, results, errors, prompts, resources, log, spec', async () => {
    const herd = await openHerd(HERD);
    await herd.fleet.start({ all: true }, true);
    const { page, sees } = await openWatched(herd);
    const call = async (tool: string) => {
      await goTo(page, `#/server/evil?tab=tools&tool=${tool}`);
      await page.getByRole('button', { name: `Call ${tool}`, exact: true }).click();
    };
    await goTo(page, '#/server/evil');
    await sees('info-name');
    await goTo(page, '#/server/evil?tab=tools&tool=answer');
    await sees('tool-title', 'tool-description', 'words-title', 'words-description', 'words-pattern');
    await sees('choice-title', 'nested-title', 'inner-description', 'property-name', 'tool-name');
    expect(await page.getByLabel('words-title').getAttribute('placeholder')).toContain('words-default<img');
    expect(await page.getByLabel('choice-title').textContent()).toContain('choice-enum<img');
    for (const name of ['Input schema', 'Output schema']) await page.getByText(name, { exact: true }).click();
    await sees('schema-title', 'output-schema');
    await page.getByRole('button', { name: 'Call answer', exact: true }).click();
    await sees('result-text', 'result-json', 'link-name', 'web-link-name', 'embedded-uri', 'embedded-text');
    await sees('content-type', 'content-more', 'structured-key', 'structured-value');
    await page.getByRole('link', { name: 'web-link-name' }).click();
    const question = page.getByRole('dialog', { name: 'Leave this page?' });
    await question.getByText('<script>globalThis.ran').waitFor();
    await question.getByRole('button', { name: 'Cancel' }).click();
    await call('fail');
    await sees('tool-error');
    await call('refuse');
    await sees('rpc-error');
    await call('crawl');
    await sees('progress-message');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await call('say');
    await page.getByRole('region', { name: 'Result' }).waitFor();
    await goTo(page, '#/server/evil?tab=logs');
    await sees('stderr-line', 'stdout-line', 'log-data', 'logger');
    await goTo(page, '#/server/evil?tab=prompts');
    await sees('prompt-description');
    await page.locator('summary').first().click();
    await sees('argument-description');
    await page.getByRole('button', { name: 'Get the prompt greet' }).click();
    await sees('prompt-message', 'prompt-role', 'prompt-content');
    await page.locator('summary').last().click();
    await page.getByRole('button', { name: 'Get the prompt deny' }).click();
    await sees('prompt-error');
    await goTo(page, '#/server/evil?tab=resources');
    await sees('resource-uri', 'resource-name', 'resource-description', 'resource-type', 'template-uri');
    await page.locator('summary').first().click();
    await page.getByRole('button', { name: 'Read note' }).first().click();
    await sees('resource-text');
    await page.locator('summary').filter({ hasText: 'note://deny' }).click();
    await page.getByRole('button', { name: 'Read note://deny' }).click();
    await sees('resource-error');
    for (const tab of ['pins', 'spec']) {
      await goTo(page, `#/server/evil?tab=${tab}`);
      await page.getByRole('tabpanel').waitFor();
      await sees();
    }
  });

  it('runs nothing on the pages Herd and Calls, nor as the cause of a failure', async () => {
    const herd = await openHerd(HERD);
    const { page, sees } = await openWatched(herd);
    for (const tool of ['answer', 'refuse', 'fail', 'die']) await herd.say('evil', tool);
    await page.getByRole('region', { name: 'Needs attention' }).getByText('last-words').first().waitFor();
    await sees('last-words');
    await goTo(page, '#/server/evil');
    await sees('last-words');
    await goTo(page, '#/calls');
    await page.getByRole('row').filter({ hasText: 'refuse' }).first().waitFor();
    await sees();
    await herd.fleet.reset({ all: true });
    await herd.fleet.start({ all: true }, true);
    await goTo(page, '#/herd');
    await sees('info-version');
  });

  it('runs nothing where it refuses to begin: what happened, statecharts', async () => {
    const rude = server('rude', 'markup.mjs', { args: ['http://127.0.0.1:1', 'rude'], max_restarts: 0 });
    const herd = await openHerd(config([rude]));
    await herd.fleet.start({ all: true }, true).catch(() => undefined);
    const { page, sees } = await openWatched(herd);
    await page.getByRole('region', { name: 'Needs attention' }).waitFor();
    await sees('initialize-error');
    await goTo(page, '#/server/rude');
    for (const part of ['.error-box', '.timeline', '.chart figcaption'])
      await page.locator(part).getByText('initialize-error<img').first().waitFor();
    await sees('initialize-error');
  });

  it('a client or a registry with markup runs nothing on Agents, Calls, Config and Registry', async () => {
    const published: Published = {
      server: {
        name: 'io.evil/markup',
        title: markup('published-title'),
        description: markup('published-description'),
        version: '1.0.0',
        websiteUrl: `javascript:globalThis.ran='website'`,
        repository: { url: `javascript:globalThis.ran='repository'`, source: markup('published-source') },
        packages: [
          {
            registryType: 'npm',
            identifier: 'markup',
            version: '1.0.0',
            transport: { type: 'stdio' },
            environmentVariables: [
              { name: 'KEY', description: markup('variable-description'), isRequired: true },
            ],
          },
        ],
      },
    };
    const registry = await startRegistry([published]);
    const herd = await openHerd(HERD, { environment: { TOOLHERD_REGISTRY: registry.url } });
    await herd.fleet.start({ all: true }, true);
    const client = await RawClient.open(herd.home.socket);
    await client.answer('fleet/hello', {
      client: { name: markup('client-name'), version: markup('client-version') },
    });
    await client.answer('fleet/call', { server: 'evil', tool: markup('no-such-tool') });
    const { page, sees } = await openWatched(herd);
    await goTo(page, '#/agents');
    await sees('client-name');
    await goTo(page, '#/calls');
    await sees('client-name', 'no-such-tool');
    await goTo(page, '#/registry?q=markup');
    await sees('published-description');
    await page.getByRole('button', { name: 'io.evil/markup' }).click();
    await sees('variable-description');
    herd.home.configure(`${HERD}\n  - {name: '<img src=x onerror=globalThis.ran=1>', command: [}\n`);
    await goTo(page, '#/config');
    await page.locator('.problem').first().waitFor();
    await sees();
  });
});
