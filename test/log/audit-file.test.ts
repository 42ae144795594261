import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AuditFile } from '../../src/log/audit-file.js';
import { makeFolder } from '../support/folder.js';
import { until } from '../support/until.js';

function auditFolder(maxBytes = 10_000) {
  const folder = makeFolder();
  const path = join(folder, 'logs', 'audit.log');
  const said: string[] = [];
  const open = () => {
    const audit = new AuditFile({ path, maxBytes, warn: (text) => said.push(text) });
    onTestFinished(() => audit.close());
    return audit;
  };
  const lines = (suffix = '') => readFileSync(`${path}${suffix}`, 'utf8').split('\n').filter(Boolean);
  return { folder, path, audit: open(), open, lines, said };
}

describe('the audit file', () => {
  test('is written in batches and at the end, with mode 0600', async () => {
    const { audit, path, lines } = auditFolder();
    audit.add('"a"');
    audit.add('"b"');
    expect(existsSync(path)).toBe(false);
    await until(() => existsSync(path));
    expect(lines()).toEqual(['"a"', '"b"']);
    audit.add('"c"');
    audit.close();
    expect(lines()).toEqual(['"a"', '"b"', '"c"']);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('writes a full batch at once', () => {
    const { audit, lines } = auditFolder(10 * 2 ** 20);
    const record = JSON.stringify('x'.repeat(1000));
    for (let count = 0; count < 100; count += 1) audit.add(record);
    expect(lines().length).toBeGreaterThan(50);
    audit.close();
    expect(lines().length).toBe(100);
  });

  test('never grows beyond its cap, also a very small one', () => {
    const { folder, path, audit, lines } = auditFolder(50);
    for (let count = 10; count < 60; count += 1) audit.add(`"record ${count}"`);
    audit.close();
    expect(readdirSync(join(folder, 'logs')).sort()).toEqual(
      ['', '.1', '.2', '.3'].map((suffix) => `audit.log${suffix}`),
    );
    for (const suffix of ['', '.1', '.2', '.3'])
      expect(statSync(`${path}${suffix}`).size).toBeLessThanOrEqual(50);
    expect(lines().at(-1)).toBe('"record 59"');
  });

  test('may be shared, moved and removed: the next records go to the file there then', () => {
    const { path, audit, open, lines } = auditFolder();
    const other = open();
    for (const [one, text] of [
      [audit, '1'],
      [other, '2'],
      [audit, '3'],
    ] as const) {
      one.add(text);
      one.flush();
    }
    expect(lines()).toEqual(['1', '2', '3']);
    renameSync(path, `${path}.old`);
    audit.add('4');
    audit.flush();
    rmSync(path);
    other.add('5');
    other.flush();
    expect([lines('.old'), lines()]).toEqual([['1', '2', '3'], ['5']]);
  });

  test('two processes that share it keep its limit together', () => {
    const { path, audit, open } = auditFolder(100);
    const other = open();
    for (let count = 0; count < 40; count += 1) {
      const one = count % 2 === 0 ? audit : other;
      one.add(`"record ${count}"`);
      one.flush();
      expect(statSync(path).size).toBeLessThanOrEqual(100);
    }
  });

  test('C4: lost records are counted and reported once; later ones are written again', () => {
    const { folder, audit, lines, said } = auditFolder();
    // a file where the folder should be
    writeFileSync(join(folder, 'logs'), '');
    for (const record of ['1', '2']) audit.add(record);
    audit.flush();
    audit.add('3');
    audit.flush();
    expect(audit.lost).toBe(3);
    rmSync(join(folder, 'logs'));
    audit.add('4');
    audit.flush();
    expect([lines(), audit.lost]).toEqual([['4'], 3]);
    expect(said).toEqual([
      expect.stringMatching(/cannot be written to: calls are not recorded/),
      expect.stringMatching(/recorded again .*; 3 were not/),
    ]);
  });

  test.runIf(existsSync('/dev/full'))('C4: a full disk loses records and nothing else', () => {
    const audit = new AuditFile({ path: '/dev/full', maxBytes: 1000, warn: () => undefined });
    for (let count = 0; count < 100; count += 1) audit.add('"a record that is not kept"');
    audit.close();
    expect(audit.lost).toBe(100);
  });
});
