// docs/BENCHMARKS.md and the tables of README.md: what stands between their marks is written by a run, everything else by people.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceRegion } from '../../scripts/shared/markdown.mjs';
import { circumstances, fullTables, goalsTable, leftOut } from './markdown.mjs';
import { drawPlots } from './plots.mjs';
import { renderReadme } from './readme.mjs';

const root = join(import.meta.dirname, '..', '..');
const docs = join(root, 'docs');

/** @type {Record<string, (results: any) => string>} */
const regions = {
  circumstances,
  goals: goalsTable,
  plots: (results) =>
    Object.keys(drawPlots(results))
      .map((file) => `![${file.replace('.svg', '').replace('-', ' ')}](bench/${file})`)
      .join('\n\n'),
  tables: fullTables,
  'left out': leftOut,
};

/**
 * The page with every region as these results have it.
 * @param {string} page
 * @param {Record<string, any>} results
 */
export function renderDocs(page, results) {
  return Object.entries(regions).reduce(
    (written, [name, of]) => replaceRegion(written, name, of(results)),
    page,
  );
}

/** From one whole run: numbers of several runs would not be ratios of anything. */
export function writeDocs(/** @type {Bench.Results} */ results) {
  const folder = join(docs, 'bench');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'results.json');
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  for (const [name, svg] of Object.entries(drawPlots(results))) writeFileSync(join(folder, name), svg);
  const page = join(docs, 'BENCHMARKS.md');
  writeFileSync(page, renderDocs(readFileSync(page, 'utf8'), results));
  const readme = join(root, 'README.md');
  writeFileSync(readme, renderReadme(readFileSync(readme, 'utf8'), results));
}
