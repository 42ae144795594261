import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
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

it('work that took so long that another process took the lock does not remove that lock', async () => {
  const folder = makeFolder();
  const path = join(folder, 'x.lock');
  await withFileLock(path, () => writeFileSync(path, 'of another process'));
  expect(readFileSync(path, 'utf8')).toBe('of another process');
});

it('ten takers that find one stale lock do their work one after another, and leave nothing', async () => {
  const folder = makeFolder();
  const path = join(folder, 'x.lock');
  writeFileSync(path, '');
  utimesSync(path, 0, 0);
  const seen = await Promise.all(
    Array.from({ length: 10 }, () => withFileLock(path, () => existsSync(path))),
  );
  expect([new Set(seen), readdirSync(folder)]).toEqual([new Set([true]), []]);
});
