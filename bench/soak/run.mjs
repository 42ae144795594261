// npm run bench:soak
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { replaceRegion } from '../../scripts/shared/markdown.mjs';
import { isGood, soakText } from './report.mjs';
import { runSoak } from './soak.mjs';

const USAGE = `Usage: npm run bench:soak -- [options]

  --minutes N   how long the page is open (default: 10); the run takes twice as long
  --servers N   (default: 50)
  --write       docs/DASHBOARD.md and docs/dashboard/soak.json, from this run`;

const root = join(import.meta.dirname, '..', '..');
const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    servers: { type: 'string', default: '50' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (flags.help) console.log(USAGE);
else await run();

async function run() {
  const options = { minutes: Number(flags.minutes), servers: Number(flags.servers), windowMs: 20_000 };
  const about = { date: new Date().toISOString().slice(0, 10), node: process.versions.node };
  const result = { ...about, ...(await runSoak(options, console.log)) };
  const text = soakText(result);
  console.log(`\n${text}`);
  if (flags.write) {
    writeFileSync(join(root, 'docs', 'dashboard', 'soak.json'), `${JSON.stringify(result, undefined, 2)}\n`);
    const page = join(root, 'docs', 'DASHBOARD.md');
    writeFileSync(page, replaceRegion(readFileSync(page, 'utf8'), 'soak', text));
  }
  if (!isGood(result)) {
    console.error('a limit is exceeded');
    process.exitCode = 1;
  }
}
