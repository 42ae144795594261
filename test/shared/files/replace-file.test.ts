import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replaceFile } from '../../../src/shared/files/replace-file.js';
import { makeFolder } from '../../support/folder.js';

const mode = (path: string) => statSync(path).mode & 0o777;

describe('replaceFile', () => {
  it.each(['before', 'soon', 'later'] as const)(
    'writes the whole text and leaves no temporary file (synced: %s)',
    (synced) => {
      const folder = makeFolder({ state: 'old' });
      replaceFile(join(folder, 'state'), 'é\n', { synced });
      expect(readFileSync(join(folder, 'state'), 'utf8')).toBe('é\n');
      expect(readdirSync(folder)).toEqual(['state']);
    },
  );

  it('makes missing folders with mode 0700, and the file with 0600 in place of any other mode', () => {
    const path = join(makeFolder(), 'a', 'b', 'state');
    replaceFile(path, 'one');
    expect([dirname(dirname(path)), dirname(path), path].map(mode)).toEqual([0o700, 0o700, 0o600]);
    const open = join(makeFolder(), 'state');
    writeFileSync(open, 'old', { mode: 0o644 });
    replaceFile(open, 'new');
    expect(mode(open)).toBe(0o600);
  });

  it('shows readers the old text until the rename', () => {
    const path = join(makeFolder({ state: 'old' }), 'state');
    let seen = '';
    replaceFile(path, 'new', {
      beforeRename: () => {
        seen = readFileSync(path, 'utf8');
      },
    });
    expect([seen, readFileSync(path, 'utf8')]).toEqual(['old', 'new']);
  });

  it('replaces a link, and leaves the file that it points to', () => {
    const folder = makeFolder({ target: 'old' });
    symlinkSync('target', join(folder, 'state'));
    replaceFile(join(folder, 'state'), 'new');
    expect(['target', 'state'].map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual([
      'old',
      'new',
    ]);
  });

  it('keeps the old text and leaves no temporary file if the step before the rename fails', () => {
    const folder = makeFolder({ state: 'old' });
    const beforeRename = () => {
      throw new Error('not now');
    };
    expect(() => replaceFile(join(folder, 'state'), 'new', { beforeRename })).toThrow('not now');
    expect(readdirSync(folder)).toEqual(['state']);
    expect(readFileSync(join(folder, 'state'), 'utf8')).toBe('old');
  });

  it('throws the error of the file system, and leaves no temporary file', () => {
    const folder = makeFolder({ file: 'x' });
    mkdirSync(join(folder, 'taken', 'inside'), { recursive: true });
    const codeOf = (path: string) => {
      try {
        replaceFile(path, 'new');
      } catch (error) {
        return (error as NodeJS.ErrnoException).code;
      }
      return 'none';
    };
    expect(codeOf(join(folder, 'taken'))).toMatch(/^(EISDIR|ENOTEMPTY|EEXIST)$/);
    expect(codeOf(join(folder, 'file', 'state'))).toMatch(/^(ENOTDIR|EEXIST)$/);
    expect(readdirSync(folder).sort()).toEqual(['file', 'taken']);
  });
});
