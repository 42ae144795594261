import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CatalogFiles } from '../../../src/supervisor/catalog/catalog-store.js';
import { NO_LISTS } from '../../../src/supervisor/catalog/lists.js';
import { makeFolder } from '../../support/folder.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const LISTS = { ...NO_LISTS, tools: [{ name: 'a' }], resources: [] };

function openStore() {
  const folder = join(makeFolder(), 'cache', 'catalogs');
  const said: string[] = [];
  const store = new CatalogFiles(
    folder,
    () => Date.now(),
    (text) => void said.push(text),
  );
  return { folder, store, said };
}

describe('the cached lists of servers', () => {
  test('read back equal to what was saved; a list that was unknown stays unknown', () => {
    const { store, said } = openStore();
    store.save('one', LISTS);
    expect(store.load('one')).toEqual(LISTS);
    expect(store.load('two')).toBeUndefined();
    expect(said).toEqual([]);
  });

  test('are in one file of mode 0600 in a folder of mode 0700, without temporary files', () => {
    const { store, folder } = openStore();
    store.save('one', LISTS);
    store.save('one', { ...LISTS, prompts: [] });
    expect(readdirSync(folder)).toEqual(['one.json']);
    expect(statSync(join(folder, 'one.json')).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  test.each(['', '{"format":1,"lists"', '[]', '{"format":2,"lists":{"tools":[]}}', '{"format":1}', 'null'])(
    'are ignored when their file is no valid cache, with one warning: %j',
    (text) => {
      const { store, folder, said } = openStore();
      store.save('one', LISTS);
      writeFileSync(join(folder, 'one.json'), text);
      expect(store.load('one')).toBeUndefined();
      expect(store.load('one')).toBeUndefined();
      expect(said).toEqual([
        expect.stringMatching(/^the cached lists in .*\/one\.json are ignored: it is no.*remove it$/),
      ]);
    },
  );

  test('are checked one by one: a list of the wrong shape is unknown, the others are read', () => {
    const { store, folder, said } = openStore();
    store.save('one', LISTS);
    writeFileSync(join(folder, 'one.json'), '{"format":1,"lists":{"tools":[7],"prompts":[{"name":"p"}]}}');
    expect(store.load('one')).toEqual({ ...NO_LISTS, prompts: [{ name: 'p' }] });
    expect(said).toEqual([expect.stringContaining('its tools are no list of objects')]);
  });

  test('are not saved to a folder that cannot be written, with one warning and no exception', async () => {
    const folder = makeFolder({ file: '' });
    const said: string[] = [];
    const store = new CatalogFiles(
      join(folder, 'file'),
      () => Date.now(),
      (text) => void said.push(text),
    );
    store.save('one', LISTS);
    expect(store.load('one')).toBeUndefined();
    expect(said).toEqual([expect.stringContaining('it cannot be opened (ENOTDIR)')]);
    await store.prune(['one']);
  });

  test('are deleted 90 days after their server was last configured', async () => {
    const { store, folder } = openStore();
    for (const name of ['old', 'configured', 'fresh']) store.save(name, LISTS);
    const past = new Date(Date.now() - 91 * DAY_MS);
    for (const name of ['old', 'configured']) utimesSync(join(folder, `${name}.json`), past, past);
    await store.prune(['configured']);
    expect(readdirSync(folder).sort()).toEqual(['configured.json', 'fresh.json']);
    expect(Date.now() - statSync(join(folder, 'configured.json')).mtimeMs).toBeLessThan(DAY_MS);
  });

  test('are not saved when they have more than 16 MiB', () => {
    const { store } = openStore();
    store.save('one', LISTS);
    store.save('one', { ...LISTS, tools: [{ name: 'x'.repeat(17 * 2 ** 20) }] });
    expect(store.load('one')).toBeUndefined();
  });

  test('are not read from a file that has more than 16 MiB, with a warning', () => {
    const { store, folder, said } = openStore();
    store.save('one', LISTS);
    const file = join(folder, 'one.json');
    writeFileSync(file, readFileSync(file, 'utf8') + ' '.repeat(16 * 2 ** 20));
    expect(store.load('one')).toBeUndefined();
    expect(said).toEqual([expect.stringContaining('larger than any that was written')]);
  });

  test("X1: have a file name and a content that reveal nothing of the server's command", () => {
    const { store, folder } = openStore();
    store.save('0a1b', LISTS);
    const text = readFileSync(join(folder, '0a1b.json'), 'utf8');
    expect(Object.keys(JSON.parse(text))).toEqual(['format', 'at', 'lists']);
  });
});
