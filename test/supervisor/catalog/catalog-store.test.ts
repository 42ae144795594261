import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CatalogFiles } from '../../../src/supervisor/catalog/catalog-store.js';
import { NO_LISTS } from '../../../src/supervisor/catalog/lists.js';
import { makeFolder } from '../../support/folder.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const LISTS = { ...NO_LISTS, tools: [{ name: 'a' }], resources: [] };

function stage() {
  const folder = join(makeFolder(), 'cache', 'catalogs');
  const said: string[] = [];
  const store = new CatalogFiles(
    folder,
    () => Date.now(),
    (text) => void said.push(text),
  );
  return { folder, store, said };
}

describe('what servers offered is kept', () => {
  test('and is the same when it is read again; a list that was not known is still not known', () => {
    const { store, said } = stage();
    store.save('one', LISTS);
    expect(store.load('one')).toEqual(LISTS);
    expect(store.load('two')).toBeUndefined();
    expect(said).toEqual([]);
  });

  test('in a file that only the user can read, whole, and with nothing beside it', () => {
    const { store, folder } = stage();
    store.save('one', LISTS);
    store.save('one', { ...LISTS, prompts: [] });
    expect(readdirSync(folder)).toEqual(['one.json']);
    expect(statSync(join(folder, 'one.json')).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  test.each(['', '{"format":1,"lists"', '[]', '{"format":2,"lists":{"tools":[]}}', '{"format":1}', 'null'])(
    'what cannot be understood is nothing, and that is said once: %j',
    (text) => {
      const { store, folder, said } = stage();
      store.save('one', LISTS);
      writeFileSync(join(folder, 'one.json'), text);
      expect(store.load('one')).toBeUndefined();
      expect(store.load('one')).toBeUndefined();
      expect(said).toEqual([
        expect.stringMatching(/^the cached lists in .*\/one\.json are ignored: it is no.*remove it$/),
      ]);
    },
  );

  test('a list of another shape is not known, the others are', () => {
    const { store, folder, said } = stage();
    store.save('one', LISTS);
    writeFileSync(join(folder, 'one.json'), '{"format":1,"lists":{"tools":[7],"prompts":[{"name":"p"}]}}');
    expect(store.load('one')).toEqual({ ...NO_LISTS, prompts: [{ name: 'p' }] });
    expect(said).toEqual([expect.stringContaining('its tools are no list of objects')]);
  });

  test('where nothing can be written, nothing is kept and nothing breaks', async () => {
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
    await store.seen(['one']);
  });

  test('for 90 days after its server was last configured', async () => {
    const { store, folder } = stage();
    for (const name of ['old', 'configured', 'fresh']) store.save(name, LISTS);
    const past = new Date(Date.now() - 91 * DAY_MS);
    for (const name of ['old', 'configured']) utimesSync(join(folder, `${name}.json`), past, past);
    await store.seen(['configured']);
    expect(readdirSync(folder).sort()).toEqual(['configured.json', 'fresh.json']);
    expect(Date.now() - statSync(join(folder, 'configured.json')).mtimeMs).toBeLessThan(DAY_MS);
  });

  test('no more than is worth reading', () => {
    const { store } = stage();
    store.save('one', LISTS);
    store.save('one', { ...LISTS, tools: [{ name: 'x'.repeat(17 * 2 ** 20) }] });
    expect(store.load('one')).toBeUndefined();
  });

  test('X1: under a name and with a content that tell nothing of how a server is started', () => {
    const { store, folder } = stage();
    store.save('0a1b', LISTS);
    const text = readFileSync(join(folder, '0a1b.json'), 'utf8');
    expect(Object.keys(JSON.parse(text))).toEqual(['format', 'at', 'lists']);
  });
});
