import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALL_IDS } from './requirements.js';
import { readDoc } from './support/docs.js';

interface Report {
  testResults: { name: string; assertionResults: { fullName: string; status: string }[] }[];
}
type Results = Record<string, unknown>;
interface Script {
  ROWS: { id: string; fault: string; must: string }[];
  resultsOf(report: Report, measures: { test: string; text: string }[], root: string, about: string): Results;
  table(results: Results): string;
  replaceRegion(document: string, name: string, text: string): string;
}

const FAULTS = join(import.meta.dirname, '..', 'scripts', 'faults');
const { ROWS, resultsOf, table, replaceRegion } = {
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

  it('says of every fault what must hold, how its tests ended, by which command, when and where', () => {
    for (const row of rowsOf(readDoc('docs/RELIABILITY.md'))) {
      const [, id, , must, , tests, command, about] = cells(row);
      const listed = ROWS.find((one) => one.id === id);
      expect([id, must]).toEqual([id, listed?.must]);
      expect([id, tests]).toEqual([id, expect.stringMatching(/^\d+ passed$/)]);
      expect([id, about]).toEqual([id, expect.stringMatching(/^\d{4}-\d\d-\d\d, Node \d+.*, load /)]);
      expect([id, command]).toEqual([id, expect.stringMatching(/^[\w -]+$/)]);
    }
  });
});

it('the table is that of the results that are kept', () => {
  const kept = JSON.parse(readDoc('docs/reliability.json')) as Results;
  expect(readDoc('docs/RELIABILITY.md')).toContain(`<!-- generated: reliability -->\n\n${table(kept)}\n\n`);
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
  const of = (test: string) => `/home/me/test/faults/${test}.test.ts`;
  const results = resultsOf(
    report,
    [
      { test: of('a'), text: 'P1: after 7 | 8 ms' },
      { test: of('a'), text: 'P1: 3 of 3' },
      { test: of('a'), text: 'no row: x' },
      { test: of('b'), text: 'P1: of another' },
    ],
    '/home/me',
    'today',
  );
  const rows = rowsOf(table(results));

  it('counts a test for every row it cites, and does not hide a failure', () => {
    expect(cells(rows[1] ?? '').slice(4, 8)).toEqual(['', '**1 of 1 failed**', 'a', 'today']);
    expect(cells(rows[2] ?? '').slice(4, 8)).toEqual(['', 'not run', '', '']);
  });

  it('puts what was measured into its row', () => {
    expect(rows[0]).toContain('| after 7 \\| 8 ms; 3 of 3 | **1 of 2 failed** | a | today |');
  });

  it('writes its region and nothing else', () => {
    const document = 'before\n<!-- generated: x -->\nold\n<!-- end -->\nafter\n';
    expect(replaceRegion(document, 'x', 'new')).toBe(
      'before\n<!-- generated: x -->\n\nnew\n\n<!-- end -->\nafter\n',
    );
    expect(() => replaceRegion(document, 'y', 'new')).toThrow("no region 'y'");
  });
});
