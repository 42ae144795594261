import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withFileLock } from '../../../src/shared/files/file-lock.js';
import { makeFolder } from '../../support/folder.js';

it('the lock is given back after the work, also if the work fails', async () => {
  const folder = makeFolder();
  const path = join(folder, 'state', 'x.lock');
  expect(await withFileLock(path, () => readdirSync(join(folder, 'state')))).toEqual(['x.lock']);
  await expect(
    withFileLock(path, () => {
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  expect(readdirSync(join(folder, 'state'))).toEqual([]);
});

it('the lock of a process that was killed is taken over', async () => {
  const path = join(makeFolder(), 'x.lock');
  writeFileSync(path, '');
  utimesSync(path, 0, 0);
  expect(await withFileLock(path, () => 'done')).toBe('done');
});
