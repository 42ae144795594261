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

function stage() {
  const folder = join(makeFolder(), 'state', 'pins');
  return { folder, file: join(folder, 'one.json'), store: new PinFiles(folder, () => Date.now()) };
}

describe('pins on the disk', () => {
  test('are the same when they are read again, private, whole, and with nothing beside them', () => {
    const { store, folder, file } = stage();
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
  ])('what cannot be understood is a problem, never nothing: %j', (text) => {
    const { store, file } = stage();
    store.save('one', 'srv', RECORD);
    writeFileSync(file, text);
    expect(store.load('one')).toEqual({ problem: `${file} makes no sense` });
  });

  test('one that cannot be read is a problem too, and so is one that is far too large', () => {
    const { store, file, folder } = stage();
    store.save('one', 'srv', RECORD);
    writeFileSync(file, Buffer.alloc(33 * 2 ** 20));
    expect(store.load('one').problem).toContain('larger');
    const inFile = new PinFiles(join(file, 'x'), () => Date.now());
    expect(inFile.load('one').problem).toContain('ENOTDIR');
    expect(readdirSync(folder)).toEqual(['one.json']);
  });

  test('a broken file is set aside when a new one takes its place, and can still be looked at', () => {
    const { store, file, folder } = stage();
    store.save('one', 'srv', RECORD);
    writeFileSync(file, 'not pins');
    expect(store.save('one', 'srv', RECORD)).toBeUndefined();
    expect(readdirSync(folder).sort()).toEqual(['one.json', 'one.json.broken']);
    expect(readFileSync(`${file}.broken`, 'utf8')).toBe('not pins');
    expect(store.load('one')).toEqual({ record: RECORD });
  });

  test('where nothing can be written that is said, and what was there stays', () => {
    const folder = makeFolder({ file: '' });
    const store = new PinFiles(join(folder, 'file'), () => Date.now());
    expect(store.save('one', 'srv', RECORD)).toContain('cannot be written');
  });

  test('are forgotten a year after their server was last configured, and not before', async () => {
    const { store, folder } = stage();
    for (const name of ['old', 'configured', 'fresh']) store.save(name, 'srv', RECORD);
    const past = new Date(Date.now() - 366 * 24 * 60 * 60 * 1000);
    for (const name of ['old', 'configured']) utimesSync(join(folder, `${name}.json`), past, past);
    await store.seen(['configured']);
    expect(readdirSync(folder).sort()).toEqual(['configured.json', 'fresh.json']);
  });
});
