import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { config, server } from '../faults/config.js';
import { herdIn, killDaemon, makeHome, startHerd } from '../support/herd.js';

const WARN = 40;

interface Line {
  level: number;
  msg: string;
}

const warningsIn = (folder: string): string[] =>
  readFileSync(join(folder, 'state', 'logs', 'daemon.log'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line)
    .filter(({ level }) => level === WARN)
    .map(({ msg }) => msg);

it('a broken ledger and list cache are logged once, each with its consequence; the daemon serves (C4)', async () => {
  const { home, daemon, fleet } = await startHerd(config([server('one', 'good.mjs')]));
  await fleet.tools('one');
  await killDaemon(home, daemon);
  const ledger = join(home.folder, 'state', 'ledger');
  const catalogs = join(home.folder, 'cache', 'catalogs');
  const [name = ''] = readdirSync(catalogs);
  writeFileSync(ledger, `${readFileSync(ledger, 'utf8')}{"came":{"pi`);
  writeFileSync(join(catalogs, name), '{"format":1,"lists":{"tools":[{"na');
  const { fleet: next } = await herdIn(home, await home.start());
  expect((await next.tools('one')).tools.length).toBeGreaterThan(0);
  const told = warningsIn(home.folder).filter((text) => /ledger|cached/.test(text));
  expect(told).toEqual([
    `the ledger ${ledger} could not be read whole: a line of it makes no sense. What an earlier daemon left may not all have been found: look with "ps" for servers that this daemon did not start, and end them. A new ledger is begun`,
    `the cached lists in ${join(catalogs, name)} are ignored: it is no JSON object. Its server is started when its lists are needed, and the file is written again; if that does not help, remove it`,
  ]);
});

it('a first start, without ledger and cache, logs no warning', async () => {
  const home = makeHome(config([server('one', 'good.mjs')]));
  await home.start();
  expect(warningsIn(home.folder)).toEqual([]);
});
