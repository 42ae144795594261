import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { config, server } from '../faults/config.js';
import { toolherd } from '../support/command.js';
import { embeddingServer } from '../support/embedding-server.js';
import { startHerd, until } from '../support/herd.js';

const KEY = 'sk-very-secret-0123456789';
const SERVERS = config(
  ['playwright', 'memory'].map((name) => server(name, 'catalogued.mjs', { args: [name], start: 'lazy' })),
);
const withSearch = (url: string) =>
  `${SERVERS}search: {embeddings: {url: "${url}", model: toy, key: "\${EMBEDDINGS_KEY}"}}\n`;
const environment = { EMBEDDINGS_KEY: KEY };

it('search.embeddings ranks by meaning as soon as tools have vectors, and a reload turns it off', async () => {
  const service = await embeddingServer();
  const { home, fleet } = await startHerd(withSearch(service.url), { environment });
  const find = async () => (await fleet.search({ query: 'photograph' })).tools.map(({ name }) => name);
  expect(await find()).toEqual([]);
  expect((await until(async () => ((await find()).length > 0 ? find() : undefined)))[0]).toBe(
    'browser_take_screenshot',
  );
  const report = await until(async () => {
    const { embeddings } = (await fleet.status()).daemon.search ?? {};
    return embeddings?.waiting === 0 ? embeddings : undefined;
  });
  expect(report).toEqual({
    url: `${service.url}/embeddings`,
    model: 'toy',
    vectors: 34,
    waiting: 0,
    problem: null,
  });
  expect(service.requests.every(({ authorization }) => authorization === `Bearer ${KEY}`)).toBe(true);
  const sent = service.requests.flatMap(({ input }) => input);
  expect(sent.filter((text) => text.startsWith('playwright '))).toHaveLength(25);
  home.configure(SERVERS);
  await fleet.reload();
  expect(await find()).toEqual([]);
  expect((await fleet.status()).daemon.search).toEqual({ embeddings: null });
  home.configure(withSearch(service.url));
  const asked = service.requests.length;
  await fleet.reload();
  await until(async () => (await find()).length > 0);
  // the vectors of tools came from the file
  expect(service.requests.slice(asked).flatMap(({ input }) => input)).toEqual(
    service.requests.slice(asked).map(() => 'photograph'),
  );
});

it('a url that is dead changes nothing but the ranking: it is in the log once, in status and doctor', async () => {
  const service = await embeddingServer();
  await service.close();
  const plain = await startHerd(SERVERS);
  const { home, fleet } = await startHerd(withSearch(service.url), { environment });
  for (const query of ['take a screenshot', 'photograph', 'create entities', 'photograph'])
    expect(await fleet.search({ query })).toEqual(await plain.fleet.search({ query }));
  const status = await until(async () => {
    const { daemon } = await fleet.status();
    return daemon.search?.embeddings?.problem ? daemon : undefined;
  });
  expect(status.search?.embeddings).toMatchObject({ vectors: 0, waiting: 34 });
  const log = readFileSync(join(home.folder, 'state', 'logs', 'daemon.log'), 'utf8');
  expect(log.split('\n').filter((line) => line.includes('search.embeddings'))).toHaveLength(1);
  const { stdout } = await toolherd(['doctor', '--json'], { cwd: home.folder, env: home.environment });
  const { findings } = JSON.parse(stdout) as { findings: { about: string; level: string }[] };
  expect(findings.filter(({ about }) => about === 'search')).toMatchObject([{ level: 'warn' }]);
  expect(log + stdout + JSON.stringify(status)).not.toContain(KEY);
});
