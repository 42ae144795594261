import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PinFiles } from '../../../src/supervisor/pins/pin-files.js';
import type { PinRecord } from '../../../src/supervisor/pins/record.js';
import { makeFolder } from '../../support/folder.js';

const HASH = 'a'.repeat(64);
const VERSION = { hash: HASH, at: '2026-01-01T00:00:00.000Z', text: '{"name":"__proto__"}', isWhole: true };
const RECORD: PinRecord = new Map([
  ['__proto__', { pinned: VERSION }],
  ['b', { pinned: VERSION, offered: { ...VERSION, text: '{"na', isWhole: false } }],
]);

function openStore() {
  const folder = join(makeFolder(), 'state', 'pins');
  return { folder, file: join(folder, 'one.json'), store: new PinFiles(folder, () => Date.now()) };
}

describe('pin files', () => {
  test('read back equal to what was saved, have mode 0600, and leave no temporary file', () => {
    const { store, folder, file } = openStore();
    expect(store.load('one')).toEqual({});
    expect(store.save('one', 'srv', RECORD)).toBeUndefined();
    expect(store.save('one', 'srv', RECORD)).toBeUndefined();
    expect(store.load('one')).toEqual({ record: RECORD });
    expect(readdirSync(folder)).toEqual(['one.json']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  const version = JSON.stringify(VERSION);
  test.each([
    '',
    '{"format":1,"tools"',
    'null',
    '{"format":2,"tools":[]}',
    '{"format":1,"tools":{}}',
    '{"format":1,"tools":[{"name":"a"}]}',
    `{"format":1,"tools":[{"name":7,"pinned":${version}}]}`,
    '{"format":1,"tools":[{"name":"a","pinned":{"hash":"short","at":"2026-01-01T00:00:00Z","text":"","isWhole":false}}]}',
    `{"format":1,"tools":[{"name":"a","pinned":${version.replace('{\\"name\\":\\"__proto__\\"}', 'no')}}]}`,
    `{"format":1,"tools":[{"name":"a","pinned":${version.replace('2026', 'when')}}]}`,
  ])('a file with invalid content is a problem, not an empty record: %j', (text) => {
    const { store, file } = openStore();
    store.save('one', 'srv', RECORD);
    writeFileSync(file, text);
    expect(store.load('one')).toEqual({ problem: `${file} makes no sense` });
  });

  test('that cannot be read or are larger than 32 MiB are a problem', () => {
    const { store, file, folder } = openStore();
    store.save('one', 'srv', RECORD);
    writeFileSync(file, Buffer.alloc(33 * 2 ** 20));
    expect(store.load('one').problem).toContain('larger');
    const inFile = new PinFiles(join(file, 'x'), () => Date.now());
    expect(inFile.load('one').problem).toContain('ENOTDIR');
    expect(readdirSync(folder)).toEqual(['one.json']);
  });

  test('that are broken are kept as .broken when new pins replace them', () => {
    const { store, file, folder } = openStore();
    store.save('one', 'srv', RECORD);
    writeFileSync(file, 'not pins');
    expect(store.save('one', 'srv', RECORD)).toBeUndefined();
    expect(readdirSync(folder).sort()).toEqual(['one.json', 'one.json.broken']);
    expect(readFileSync(`${file}.broken`, 'utf8')).toBe('not pins');
    expect(store.load('one')).toEqual({ record: RECORD });
  });

  test('report a folder that cannot be written', () => {
    const folder = makeFolder({ file: '' });
    const store = new PinFiles(join(folder, 'file'), () => Date.now());
    expect(store.save('one', 'srv', RECORD)).toContain('cannot be written');
  });

  test('are deleted a year after their server was last configured', async () => {
    const { store, folder } = openStore();
    for (const name of ['old', 'configured', 'fresh']) store.save(name, 'srv', RECORD);
    const past = new Date(Date.now() - 366 * 24 * 60 * 60 * 1000);
    for (const name of ['old', 'configured']) utimesSync(join(folder, `${name}.json`), past, past);
    await store.prune(['configured']);
    expect(readdirSync(folder).sort()).toEqual(['configured.json', 'fresh.json']);
  });
});
