import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replaceRegion } from '../../scripts/shared/markdown.mjs';
import { REQUIREMENTS } from '../../scripts/shared/requirements.mjs';
import { filesOfRows } from '../../scripts/tools/faults/files.mjs';
import { type Result, resultOf, table } from '../../scripts/tools/faults/report.mjs';
import { ROWS } from '../../scripts/tools/faults/rows.mjs';
import { expectRegion, readDoc } from '../support/docs.js';

const cells = (row: string) => row.split('|').map((cell) => cell.trim());
const rowsOf = (text: string) => text.split('\n').filter((line) => /^\| [PSUCXL]\d+ \|/.test(line));

// first: `npm run docs` writes the table that the other tests read
it('the table is that of the results that are kept (npm run docs)', () => {
  const kept = JSON.parse(readDoc('docs/reliability.json')) as Record<string, Result>;
  expectRegion('docs/RELIABILITY.md', 'reliability', table(kept));
});

describe('docs/RELIABILITY.md', () => {
  it('names every fault that must be survived, each once and in order', () => {
    const faults = REQUIREMENTS.map(({ id }) => id).filter((id) => /^[PSUCXL]\d+$/.test(id));
    expect(ROWS.map(({ id }) => id)).toEqual(faults);
    expect(rowsOf(readDoc('docs/RELIABILITY.md')).map((row) => cells(row)[1])).toEqual(faults);
  });

  it('has the date, Node and load of the measurements above the table', () => {
    expect(readDoc('docs/RELIABILITY.md')).toMatch(/^Measured: \d{4}-\d\d-\d\d, Node \d+\S*, load [\d.]+/m);
  });

  it('has for every fault what must hold, its test results and the command', () => {
    for (const row of rowsOf(readDoc('docs/RELIABILITY.md'))) {
      const [, id, , must, , tests, command] = cells(row);
      const listed = ROWS.find((one) => one.id === id);
      expect([id, must]).toEqual([id, listed?.must]);
      expect([id, tests]).toEqual([id, expect.stringMatching(/^\d+ passed$/)]);
      expect([id, command]).toEqual([id, expect.stringMatching(/^[\w -]+$/)]);
    }
  });
});

describe('the report of npm run faults', () => {
  const tests = [
    { name: 'P1: lives', status: 'passed' },
    { name: 'some P1 P2: dies', status: 'failed' },
    { name: 'something else', status: 'failed' },
  ];
  const result = resultOf(tests, ['P1: after 7 | 8 ms', 'P1: 3 of 3', 'no row: x'], 'today');
  const rows = rowsOf(table({ 'test/faults/a.test.ts': result }));

  it('counts a test for every row it cites, and does not hide a failure', () => {
    expect(cells(rows[1] ?? '').slice(4, 7)).toEqual(['', '**1 of 1 failed**', 'a']);
    expect(cells(rows[2] ?? '').slice(4, 7)).toEqual(['', 'not run', '']);
  });

  it('puts each measurement into its row', () => {
    expect(rows[0]).toContain('| after 7 \\| 8 ms; 3 of 3 | **1 of 2 failed** | a |');
  });

  it('names the circumstances once, and of rows with other ones only the difference', () => {
    const of = (name: string, about: string) => resultOf([{ name, status: 'passed' }], [], about);
    const text = table({
      'a.test.ts': of('P1 P2: lives', 'today, load 1'),
      'b.test.ts': of('P1: lives', 'today, load 1'),
      'c.test.ts': of('P2: lives', 'today, load 2'),
      'd.test.ts': of('P3: lives', 'yesterday, load 1'),
    });
    expect(text).toMatch(/^Measured: today, load 1\. Some tests of P2: load 2\. P3: yesterday\.$/m);
  });

  it('writes its region and nothing else', () => {
    const document = 'before\n<!-- generated: x -->\nold\n<!-- end -->\nafter\n';
    expect(replaceRegion(document, 'x', 'new')).toBe(
      'before\n<!-- generated: x -->\n\nnew\n\n<!-- end -->\nafter\n',
    );
    expect(() => replaceRegion(document, 'y', 'new')).toThrow("no region 'y'");
  });
});

it('npm run faults finds every test file that it lists, and every file with kept results', () => {
  const files = filesOfRows(join(import.meta.dirname, '..', '..'));
  const kept = JSON.parse(readDoc('docs/reliability.json')) as Record<string, Result>;
  expect(Object.keys(kept).filter((file) => !files.includes(file))).toEqual([]);
});
