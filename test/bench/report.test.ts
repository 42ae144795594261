import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { load } from './load.js';

const { checkGoals } = await load('report/goals.mjs');
const { goalsTable, table } = await load('report/markdown.mjs');
const { drawPlots } = await load('report/plots.mjs');
const { renderDocs } = await load('report/write-docs.mjs');

interface Row {
  what: string;
  measured: string;
  verdict: string;
}

const docs = new URL('../../docs/', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, docs), 'utf8');
const results = JSON.parse(read('bench/results.json'));

test('a table is Markdown', () => {
  expect(table(['a', 'b'], [['1', '2']])).toBe('| a | b |\n| --- | --- |\n| 1 | 2 |');
});

test('what was not measured is neither met nor missed', () => {
  const verdicts = checkGoals({}).map(({ verdict }: Row) => verdict);
  expect(new Set(verdicts)).toEqual(new Set(['not measured']));
});

test('a goal is met at its limit and missed beyond it', () => {
  const verdictOf = (p50: number) => {
    const sequential = {
      relay: { p50: 1, p99: 1 },
      'SDK, own child': { p50: 1, p99: 1 },
      'toolherd, socket': { p50, p99: 1 },
    };
    return checkGoals({ sequential })[0];
  };
  expect(verdictOf(1.1)).toMatchObject({ measured: '1.10', verdict: 'met' });
  expect(verdictOf(1.11)).toMatchObject({ measured: '1.11', verdict: 'missed' });
});

test('a million calls are back at the start with the same descriptors and timers and less than a byte a call', () => {
  const start = { heap: 10_000_000, rss: 1, fds: 30, timers: 4 };
  const verdictOf = (after: object) =>
    checkGoals({ million: { calls: 1_000_000, before: start, after: { ...start, ...after } } }).at(-1)
      .verdict;
  expect(verdictOf({})).toBe('met');
  expect(verdictOf({ heap: 10_900_000 })).toBe('met');
  expect(verdictOf({ heap: 11_000_000 })).toBe('missed');
  expect(verdictOf({ fds: 31 })).toBe('missed');
  expect(verdictOf({ timers: 5 })).toBe('missed');
});

test('docs/BENCHMARKS.md is what docs/bench/results.json says', () => {
  const page = read('BENCHMARKS.md');
  expect(renderDocs(page, results)).toBe(page);
  expect(page).toContain(goalsTable(results));
});

test('the plots are those of docs/bench/results.json', () => {
  const plots: Record<string, string> = drawPlots(results);
  expect(Object.keys(plots).length).toBeGreaterThan(0);
  for (const [file, svg] of Object.entries(plots)) {
    expect(existsSync(new URL(`bench/${file}`, docs)), file).toBe(true);
    expect(read(`bench/${file}`)).toBe(svg);
  }
});

test('a page that lost a region says which', () => {
  expect(() => renderDocs('# Benchmarks', results)).toThrow("no region 'circumstances'");
});
