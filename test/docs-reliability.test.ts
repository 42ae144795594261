import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALL_IDS } from './requirements.js';
import { readDoc } from './support/docs.js';

interface Test {
  file: string;
  status: string;
}
interface Report {
  testResults: { name: string; assertionResults: { fullName: string; status: string }[] }[];
}
interface Script {
  ROWS: { id: string; fault: string; must: string }[];
  testsByRow(report: Report, root: string): Map<string, Test[]>;
  measuresByRow(lines: readonly string[]): Map<string, string[]>;
  table(tests: Map<string, Test[]>, measures: Map<string, string[]>): string;
  replaceRegion(document: string, name: string, text: string): string;
}

const FAULTS = join(import.meta.dirname, '..', 'scripts', 'faults');
const { ROWS, testsByRow, measuresByRow, table, replaceRegion } = {
  ...(await import(join(FAULTS, 'rows.mjs'))),
  ...(await import(join(FAULTS, 'report.mjs'))),
} as Script;

const cells = (row: string) => row.split('|').map((cell) => cell.trim());
const rowsOf = (text: string) => text.split('\n').filter((line) => /^\| [PSUCXL]\d+ \|/.test(line));

describe('docs/RELIABILITY.md', () => {
  it('names every fault that must be survived, each once and in order', () => {
    const faults = ALL_IDS.filter((id) => /^[PSUCXL]\d+$/.test(id));
    expect(ROWS.map(({ id }) => id)).toEqual(faults);
    expect(rowsOf(readDoc('docs/RELIABILITY.md')).map((row) => cells(row)[1])).toEqual(faults);
  });

  it('says of every fault what must hold, what was measured or how its tests ended, and by which command', () => {
    for (const row of rowsOf(readDoc('docs/RELIABILITY.md'))) {
      const [, id, , must, measured, tests, command] = cells(row);
      const listed = ROWS.find((one) => one.id === id);
      expect([id, must]).toEqual([id, listed?.must]);
      expect([id, `${measured}${tests}`]).toEqual([id, expect.stringMatching(/passed/)]);
      expect([id, command]).toEqual([id, expect.stringMatching(/^[\w -]+$/)]);
    }
  });
});

describe('the report of npm run faults', () => {
  const result = (fullName: string, status: string) => ({ fullName, status });
  const report: Report = {
    testResults: [
      {
        name: '/home/me/test/faults/a.test.ts',
        assertionResults: [result('P1: lives', 'passed'), result('some P1 P2: dies', 'failed')],
      },
    ],
  };
  const tests = testsByRow(report, '/home/me');
  const rows = rowsOf(table(tests, measuresByRow(['P1: after 7 | 8 ms', 'P1: 3 of 3', 'no row: x'])));

  it('counts a test for every row it cites, and does not hide a failure', () => {
    expect(cells(rows[1] ?? '').slice(4, 7)).toEqual(['', '**1 of 1 failed**', 'a']);
    expect(cells(rows[2] ?? '').slice(4, 7)).toEqual(['', 'not run', '']);
  });

  it('puts what was measured into its row', () => {
    expect(rows[0]).toContain('| after 7 \\| 8 ms; 3 of 3 | **1 of 2 failed** | a |');
  });

  it('writes its region and nothing else', () => {
    const document = 'before\n<!-- generated: x -->\nold\n<!-- end -->\nafter\n';
    expect(replaceRegion(document, 'x', 'new')).toBe(
      'before\n<!-- generated: x -->\n\nnew\n\n<!-- end -->\nafter\n',
    );
    expect(() => replaceRegion(document, 'y', 'new')).toThrow("no region 'y'");
  });
});
