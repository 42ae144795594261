import { expect, test } from 'vitest';
import { checkGoals } from '../../bench/report/goals.mjs';
import { goalsTable } from '../../bench/report/markdown.mjs';
import { drawPlots } from '../../bench/report/plots.mjs';
import { renderReadme } from '../../bench/report/readme.mjs';
import { renderDocs } from '../../bench/report/write-docs.mjs';
import { markdownTable } from '../../scripts/shared/markdown.mjs';
import { expectDoc, readDoc } from '../support/docs.js';

const results = JSON.parse(readDoc('docs/bench/results.json'));

test('a table is Markdown', () => {
  expect(markdownTable(['a', 'b'], [['1', '2']])).toBe('| a | b |\n| --- | --- |\n| 1 | 2 |');
});

test('a goal without a measurement is neither met nor missed', () => {
  const verdicts = checkGoals({}).map(({ verdict }) => verdict);
  expect(new Set(verdicts)).toEqual(new Set(['not measured']));
});

test('a goal is met at its limit and missed beyond it', () => {
  const verdictOf = (p50: number) => {
    const one = { p50: 1, p99: 1 };
    const floors = { relay: one, 'relay, servers in sessions': one, 'SDK, own child': one };
    const ways = { 'toolherd, fleet/call': one, 'toolherd, library': one };
    const sequential = { ...floors, ...ways, 'toolherd, socket': { p50, p99: 1 } };
    return checkGoals({ sequential })[0];
  };
  expect(verdictOf(1.15)).toMatchObject({ measured: '1.15', verdict: 'met' });
  expect(verdictOf(1.16)).toMatchObject({ measured: '1.16', verdict: 'missed' });
});

test('the goal of a million calls allows no more descriptors or timers and less than a byte a call', () => {
  const start = { heap: 10_000_000, rss: 1, fds: 30, timers: 4 };
  const verdictOf = (after: object) =>
    checkGoals({ million: { calls: 1_000_000, before: start, after: { ...start, ...after } } }).at(-1)
      ?.verdict;
  expect(verdictOf({})).toBe('met');
  expect(verdictOf({ heap: 10_900_000 })).toBe('met');
  expect(verdictOf({ heap: 11_000_000 })).toBe('missed');
  expect(verdictOf({ fds: 31 })).toBe('missed');
  expect(verdictOf({ timers: 5 })).toBe('missed');
});

test('docs/BENCHMARKS.md is rendered from docs/bench/results.json (npm run docs)', () => {
  const page = renderDocs(readDoc('docs/BENCHMARKS.md'), results);
  expect(page).toContain(goalsTable(results));
  expectDoc('docs/BENCHMARKS.md', page);
});

test('the tables of README.md are rendered from docs/bench/results.json (npm run docs)', () => {
  const page = renderReadme(readDoc('README.md'), results);
  expect(page).toContain(`Measured on ${results.run.date}`);
  expectDoc('README.md', page);
});

test('the plots are rendered from docs/bench/results.json (npm run docs)', () => {
  const plots = Object.entries(drawPlots(results));
  expect(plots.length).toBeGreaterThan(0);
  for (const [file, svg] of plots) expectDoc(`docs/bench/${file}`, svg);
});

test('a page without a region is an error that names the region', () => {
  expect(() => renderDocs('# Benchmarks', results)).toThrow("no region 'circumstances'");
});
