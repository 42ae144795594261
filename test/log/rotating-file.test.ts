import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RotatingFile } from '../../src/log/rotating-file.js';
import { makeFolder } from '../support/folder.js';

const line = (mark: string, bytes = 10) => `${mark.padEnd(bytes - 1, '.')}\n`;

function openFile(maxBytes = 30) {
  const folder = makeFolder();
  const path = join(folder, 'deep', 'a.log');
  const file = new RotatingFile(path, maxBytes);
  const read = (suffix = '') => readFileSync(`${path}${suffix}`, 'utf8');
  const marks = (suffix = '') =>
    read(suffix)
      .split('\n')
      .filter(Boolean)
      .map((text) => text.replaceAll('.', ''));
  return { folder, path, file, read, marks };
}

describe('a log file that rotates', () => {
  test('is made with its folder when the first line comes, for its owner alone', () => {
    const { folder, path, file, read } = openFile();
    expect(readdirSync(folder)).toEqual([]);
    file.write(line('a'));
    expect(read()).toBe(line('a'));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'deep')).mode & 0o777).toBe(0o700);
  });

  test('never exceeds its limit; three full files are kept, the oldest is removed', () => {
    const { path, file, marks } = openFile();
    for (let count = 1; count <= 16; count += 1) file.write(line(String(count)));
    expect(['', '.1', '.2', '.3'].map(marks)).toEqual([
      ['16'],
      ['13', '14', '15'],
      ['10', '11', '12'],
      ['7', '8', '9'],
    ]);
    expect(existsSync(`${path}.4`)).toBe(false);
    for (const suffix of ['', '.1', '.2', '.3']) {
      expect(statSync(`${path}${suffix}`).size).toBeLessThanOrEqual(30);
      expect(statSync(`${path}${suffix}`).mode & 0o777).toBe(0o600);
    }
  });

  test('is filled up to the last byte', () => {
    const { path, file } = openFile(20);
    file.write(line('a'));
    file.write(line('b'));
    expect(existsSync(`${path}.1`)).toBe(false);
    file.write('\n');
    expect(existsSync(`${path}.1`)).toBe(true);
  });

  test('counts bytes, not characters', () => {
    const { file, marks } = openFile(10);
    file.write('ääää\n');
    file.write('b\n');
    expect([marks('.1'), marks()]).toEqual([['ääää'], ['b']]);
  });

  test('appends to the file of an earlier run, and counts its size', () => {
    const { path, marks } = openFile();
    new RotatingFile(path, 30).write(line('old', 25));
    const next = new RotatingFile(path, 30);
    next.write(line('new'));
    expect([marks('.1'), marks()]).toEqual([['old'], ['new']]);
    next.write(line('more'));
    expect(marks()).toEqual(['new', 'more']);
  });

  test('a line over the limit is alone in its file', () => {
    const { file, read, path } = openFile();
    file.write(line('long', 50));
    expect([read(), existsSync(`${path}.1`)]).toEqual([line('long', 50), false]);
    file.write(line('a'));
    expect([read('.1'), read()]).toEqual([line('long', 50), line('a')]);
  });

  test('a disk error loses lines, never a call, and the next line tries again', () => {
    const { folder, path, file, marks } = openFile();
    // a file where the folder should be
    writeFileSync(join(folder, 'deep'), '');
    expect(() => file.write(line('lost'))).not.toThrow();
    rmSync(join(folder, 'deep'));
    file.write(line('kept'));
    expect([marks(), existsSync(path)]).toEqual([['kept'], true]);
  });

  test.runIf(existsSync('/dev/full'))('C4: a full disk in the middle of it is swallowed', () => {
    const file = new RotatingFile('/dev/full', 30);
    expect(() => {
      file.write(line('a'));
      file.write(line('b'));
      file.close();
    }).not.toThrow();
  });

  test('C4: a line that an earlier run could not finish spoils no other', () => {
    const { path, file, read } = openFile();
    file.write(line('a'));
    writeFileSync(path, 'tor', { flag: 'a' });
    const next = new RotatingFile(path, 30);
    next.write(line('b'));
    expect(read()).toBe(`${line('a')}tor\n${line('b')}`);
    writeFileSync(path, 'n', { flag: 'a' });
    const last = new RotatingFile(path, 30);
    last.write(line('c'));
    expect([read('.1'), read()]).toEqual([`${line('a')}tor\n${line('b')}n`, line('c')]);
  });

  test('may be closed twice, and opens again for a later line', () => {
    const { file, read } = openFile();
    file.write(line('a'));
    file.close();
    file.close();
    file.write(line('b'));
    expect(read()).toBe(line('a') + line('b'));
  });
});
