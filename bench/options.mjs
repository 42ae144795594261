// What can be asked of a run.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

export const USAGE = `Usage: npm run bench -- [options]

  --quick             under a minute: fewer rounds, no peers, no million calls
  --only A,B          only these: NAMES
  --no-peers          without mcporter, mcp-hub and mcpc (they are installed into .cache/bench on the first run)
  --rounds N          rounds of each comparison (default: as many as each needs)
  --dist FOLDER       another build than dist/
  --json FILE         the results as JSON
  --markdown FILE     the results as Markdown
  --write             docs/BENCHMARKS.md, its plots and docs/bench/results.json, from this run`;

export function readOptions(/** @type {string[]} */ argv, /** @type {string[]} */ names) {
  const { values } = parseArgs({
    args: argv,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      'no-peers': { type: 'boolean', default: false },
      rounds: { type: 'string' },
      dist: { type: 'string' },
      json: { type: 'string' },
      markdown: { type: 'string' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const only = values.only?.split(',');
  const unknown = only?.filter((name) => !names.includes(name)) ?? [];
  if (unknown.length > 0)
    throw new Error(`no metric is called ${unknown.join(', ')}; there are ${names.join(', ')}`);
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (rounds !== undefined && !(rounds >= 1)) throw new Error('--rounds needs a number of at least 1');
  const dist = values.dist && resolve(values.dist);
  return { ...values, dist, only, rounds, peers: !values['no-peers'] && !values.quick };
}
