// Measures the search for tools: how well it finds them, how fast, and what it saves.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { replaceRegion } from '../../scripts/shared/markdown.mjs';
import { cost, indexOf, quality, speed } from './measure.mjs';
import { ownSet, publicSets, recordedServers } from './sets.mjs';
import { costTable, qualityTable, speedTable } from './tables.mjs';

const USAGE = `Usage: npm run bench:search -- [options]

  --data DIR   also the public sets in this folder: retrieval_golden_v1.json with corpus_v2.tools.json (mcpproxy-go),
               livemcp_tasks.json with livemcp_tools.json (LiveMCPBench)
  --write      the tables of docs/SEARCH.md, from this run; those of the public sets only with --data`;

const root = join(import.meta.dirname, '..', '..');
const PAGE = join(root, 'docs', 'SEARCH.md');
const COUNTS = [500, 5000];

/** @type {import('esbuild').Plugin} The ranking without the table of synonyms, which people wrote by hand. */
const withoutSynonyms = {
  name: 'without synonyms',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]search[\\/]synonyms\.ts$/ }, () => ({
      contents: 'export const SYNONYMS = new Map();',
    }));
  },
};

/** Node 20 does not run TypeScript: the code of src/search is bundled into a temporary file. */
async function loadSearch(/** @type {import('esbuild').Plugin[]} */ ...plugins) {
  const folder = mkdtempSync(join(tmpdir(), 'toolherd-bench-'));
  try {
    const outfile = join(folder, 'search.mjs');
    const modules = ['tool-index', 'tool-document', 'signature'];
    const contents = modules.map((name) => `export * from './src/search/${name}.ts';`).join('\n');
    await build({
      stdin: { contents, resolveDir: root },
      bundle: true,
      format: 'esm',
      platform: 'node',
      plugins,
      outfile,
    });
    return /** @type {import('./measure.mjs').Search} */ (await import(pathToFileURL(outfile).href));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const { values } = parseArgs({
  options: { data: { type: 'string' }, write: { type: 'boolean' }, help: { type: 'boolean' } },
});
if (values.help) {
  console.log(USAGE);
} else {
  const search = await loadSearch();
  const own = ownSet();
  const others = values.data === undefined ? [] : publicSets(resolve(values.data));
  const measuredBy =
    (/** @type {import('./measure.mjs').Search} */ by) =>
    (/** @type {import('./sets.mjs').QuerySet} */ set) => ({
      title: set.title,
      ...quality(indexOf(by, set.tools), set),
    });
  const measured = measuredBy(search);
  const plain = measuredBy(await loadSearch(withoutSynonyms));
  const queries = [own, ...others].flatMap((set) => set.queries.map(({ query }) => query));
  const regions = {
    'own set': qualityTable([measured(own)]),
    ...(others.length === 0
      ? {}
      : {
          'public sets': qualityTable(others.map(measured)),
          'without synonyms': qualityTable([own, ...others].map(plain)),
        }),
    'time of a search': [
      speedTable(COUNTS.map((count) => speed(search, own, queries, count))),
      `Node ${process.version}, ${availableParallelism()} cores, ${queries.length} queries.`,
    ].join('\n\n'),
    'tokens of lists': costTable(cost(search, indexOf(search, own.tools), own, recordedServers())),
  };
  for (const [name, text] of Object.entries(regions)) console.log(`${name}\n\n${text}\n`);
  if (values.write) {
    const page = readFileSync(PAGE, 'utf8');
    writeFileSync(
      PAGE,
      Object.entries(regions).reduce((written, [name, text]) => replaceRegion(written, name, text), page),
    );
  }
}
