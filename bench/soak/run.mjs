// npm run bench:soak
import { readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { replaceRegion } from '../../scripts/shared/markdown.mjs';
import { isGood, soakText } from './report.mjs';
import { runSoak } from './soak.mjs';

const USAGE = `Usage: npm run bench:soak -- [options]

  --minutes N   how long the page is open (default: 10); the run takes twice as long
  --servers N   (default: 50)
  --window S    seconds of a window (default: 20)
  --json FILE   the result as JSON
  --write       docs/DASHBOARD.md and docs/dashboard/soak.json, from this run`;

const root = join(import.meta.dirname, '..', '..');
const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    servers: { type: 'string', default: '50' },
    window: { type: 'string', default: '20' },
    json: { type: 'string' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (flags.help) console.log(USAGE);
else await run();

async function run() {
  const [minutes, servers, window] = [flags.minutes, flags.servers, flags.window].map(Number);
  // what else the machine does: a client that waits for a core is slow, whatever the page does
  const about = {
    date: new Date().toISOString().slice(0, 10),
    node: process.versions.node,
    load: Number((loadavg()[0] ?? 0).toFixed(1)),
  };
  const result = { ...about, ...(await runSoak({ minutes, servers, windowMs: window * 1000 }, console.log)) };
  const text = soakText(result);
  console.log(`\n${text}`);
  const json = `${JSON.stringify(result, undefined, 2)}\n`;
  if (flags.json !== undefined) writeFileSync(flags.json, json);
  if (flags.write) {
    writeFileSync(join(root, 'docs', 'dashboard', 'soak.json'), json);
    const page = join(root, 'docs', 'DASHBOARD.md');
    writeFileSync(page, replaceRegion(readFileSync(page, 'utf8'), 'soak', text));
  }
  if (!isGood(result)) {
    console.error('a limit is exceeded');
    process.exitCode = 1;
  }
}
