import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { idOfKept, ResultFiles } from '../../../src/supervisor/routing/result-files.js';
import { makeFolder } from '../../support/folder.js';

const HOUR_MS = 60 * 60 * 1000;

function open(limits = {}) {
  const folder = join(makeFolder(), 'results');
  let now = Date.now();
  const said: string[] = [];
  const files = new ResultFiles({ folder, now: () => now, log: (text) => said.push(text), ...limits });
  const keep = async (text: string, owner?: string) => idOfKept((await files.keep(text, owner)) ?? '');
  const passes = (ms: number) => {
    now += ms;
  };
  return { folder, files, keep, passes };
}

describe('a kept result', () => {
  test('can be read by its owner; to another owner its id is unknown', async () => {
    const { files, keep } = open();
    const id = await keep('all of it', 'one');
    expect(await files.read(id, 'one')).toBe('all of it');
    expect(await files.read(id, 'two')).toBeUndefined();
    expect(await files.read('../../secrets', 'one')).toBeUndefined();
  });

  test('that was kept for no owner cannot be read by its id', async () => {
    const { files, keep } = open();
    expect(await files.read(await keep('all of it'), 'one')).toBeUndefined();
  });

  test('cannot be read after it has expired', async () => {
    const { files, keep, passes } = open();
    const id = await keep('old', 'one');
    passes(25 * HOUR_MS);
    await keep('new', 'one');
    expect(await files.read(id, 'one')).toBeUndefined();
  });

  test('makes room for a newer one: at most so many files are kept', async () => {
    const { files, keep, folder } = open({ maxFiles: 2 });
    const ids: string[] = [];
    for (const text of ['a', 'b', 'c']) ids.push(await keep(text, 'one'));
    expect(readdirSync(folder)).toHaveLength(2);
    expect(await files.read(ids[2] ?? '', 'one')).toBe('c');
  });
});
