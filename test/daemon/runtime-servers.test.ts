import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ServerSpec } from '../../src/config/fields/spec.js';
import { loadConfig } from '../../src/config/load.js';
import { RuntimeServers, type RuntimeServersOptions } from '../../src/daemon/runtime-servers.js';
import type { CatalogStore } from '../../src/supervisor/catalog/catalog-store.js';
import { config, server } from '../faults/config.js';
import { LineClient } from '../ipc/mcp/support.js';
import { spec, World } from '../supervisor/world.js';
import { makeFolder } from '../support/folder.js';
import { startHerd, until } from '../support/herd.js';

const entry = (name: string) => ({ name, description: 'd', server: 's', command: 'npx', args: ['-y', name] });

async function start(options: Partial<RuntimeServersOptions> = {}, catalogs?: CatalogStore) {
  const folder = makeFolder({ 'config.yaml': 'version: "1.0"\n' });
  const file = join(folder, 'config.yaml');
  const source = {
    file,
    isRequired: true,
    environment: {},
    userHome: folder,
  } as RuntimeServersOptions['source'];
  const { settings } = await loadConfig({
    ...source,
    configFile: file,
    userFolder: folder,
    trustFile: undefined,
  });
  const herd = new World().herd(catalogs && { catalogs });
  const added: string[] = [];
  const registered = new RuntimeServers({
    herd,
    source,
    settings: () => settings,
    onAdded: ({ name }) => void added.push(name),
    onRemoved: () => undefined,
    learn: () => undefined,
    ...options,
  });
  return { herd, registered, added };
}

/** A spec that counts how often it is looked at. */
function watched(name: string, looks: { count: number }): ServerSpec {
  return new Proxy(spec({ name }), {
    get(target, key) {
      looks.count += 1;
      return Reflect.get(target, key);
    },
  });
}

const many = (count: number) => Array.from({ length: count }, (_, at) => `r${at}`);

it('registering a server does not read the specs of the others', async () => {
  const { herd, registered, added } = await start();
  const looks = { count: 0 };
  herd.apply([watched('a', looks), watched('b', looks)]);
  await registered.add(entry('first'));
  looks.count = 0;
  for (const name of many(20)) expect(await registered.add(entry(name))).toMatchObject([{ name }]);
  // a single registration also prunes the files of removed servers
  expect(looks.count).toBeLessThanOrEqual(2 * 20 * 2);
  looks.count = 0;
  await Promise.all(many(200).map((name) => registered.add(entry(`s${name}`))));
  expect(looks.count).toBeLessThanOrEqual(2 * 4);
  expect(added).toEqual(['first', ...many(20), ...many(200).map((name) => `s${name}`)]);
  expect(herd.view.specs.map(({ name }) => name)).toEqual(['a', 'b', ...added]);
});

it('registering a hundred servers at once prunes the files once or twice, at last with all of them', async () => {
  const seen: number[] = [];
  const catalogs = {
    load: () => undefined,
    save: () => undefined,
    prune: async (identities: readonly string[]) => void seen.push(identities.length),
  };
  const { registered } = await start({}, catalogs);
  await Promise.all(many(100).map((name) => registered.add(entry(name))));
  await until(() => seen.at(-1) === 100);
  expect(seen.length).toBeLessThanOrEqual(2);
});

it('registrations and removals take effect in order', async () => {
  const { herd, registered } = await start();
  const answers = await Promise.allSettled([
    registered.add(entry('a')),
    registered.add(entry('a')),
    registered.remove('a'),
    registered.remove('a'),
    registered.add(entry('a')),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'rejected',
    'fulfilled',
  ]);
  expect(herd.view.specs.map(({ name }) => name)).toEqual(['a']);
});

it('waiting registrations are limited by number and size; those that wait are not affected', async () => {
  const { herd, registered } = await start({ most: { count: 2, characters: 1000 } });
  const [, , third] = await Promise.allSettled(['a', 'b', 'c'].map((name) => registered.add(entry(name))));
  expect(third).toMatchObject({
    reason: { type: 'OverloadedError', retryable: true, fix: 'wait for answers before sending more' },
  });
  const long = registered.add({ ...entry('long'), description: 'x'.repeat(2000) });
  await expect(registered.add(entry('late'))).rejects.toMatchObject({ type: 'OverloadedError' });
  await long;
  await registered.add(entry('after'));
  expect(herd.view.specs.map(({ name }) => name)).toEqual(['a', 'b', 'long', 'after']);
});

it('other requests are served while two hundred servers are registered at once', async () => {
  const { home } = await startHerd(config([server('good', 'good.mjs')]));
  const [crowd, other] = [new LineClient(home.socket), new LineClient(home.socket)];
  await other.settle();
  // one that is enabled would be started, to be asked what it offers
  const params = (name: string) => ({ ...entry(name), enabled: false });
  for (const name of many(200)) crowd.say({ id: name, method: 'fleet/register', params: params(name) });
  await until(() => crowd.lines.length > 0);
  await other.settle();
  expect(crowd.lines.length).toBeLessThan(200);
  await until(() => crowd.lines.length === 200);
  expect(crowd.lines.filter(({ error }) => error !== undefined)).toEqual([]);
  expect(crowd.lines.map(({ id }) => id)).toEqual(many(200));
});
