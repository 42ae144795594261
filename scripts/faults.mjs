// Runs the tests of the faults that toolherd must survive in their full size, and lets them say what they measured:
// what takes seconds in the suite may take minutes here.
// Usage: npm run faults [-- test/faults/never-reads.test.ts …]
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const ALL = ['test/faults', 'test/mcp/same-ids.test.ts'];
const wanted = process.argv.length > 2 ? process.argv.slice(2) : ALL;

const { status } = spawnSync(process.execPath, [vitest, 'run', ...wanted], {
  cwd: root,
  env: { ...process.env, TOOLHERD_LONG: '1' },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
