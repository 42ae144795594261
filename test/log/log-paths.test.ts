import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { serverLog, serverLogFolder, serversWithLogs } from '../../src/log/log-paths.js';
import { makeFolder } from '../support/folder.js';

function folderWith(names: readonly string[]): string {
  const folder = makeFolder();
  for (const name of names) {
    const file = serverLog(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '');
  }
  return folder;
}

describe('the servers that have a log', () => {
  test('are named as in the config, whatever their names', () => {
    const names = ['a', '..', 'a/b', 'ünï', 'a b.c'];
    expect(serversWithLogs(folderWith(names)).sort()).toEqual([...names].sort());
  });

  test('a file that cannot be decoded hides no other', () => {
    // 180 characters end inside of %C3%A4
    const folder = folderWith(['a', `${'x'.repeat(178)}ä`]);
    writeFileSync(join(serverLogFolder(folder), '%zz.log'), '');
    writeFileSync(join(serverLogFolder(folder), 'a.log.1'), '');
    expect(serversWithLogs(folder)).toEqual(['a']);
  });

  test('are none where there is no folder', () => {
    expect(serversWithLogs(makeFolder())).toEqual([]);
  });
});
