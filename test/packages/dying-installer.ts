// A program for killed.test.ts: it installs a package as a daemon does, and kills itself right before the Nth change that it
// makes to the disk. If it lives on, it prints how many changes there were.
// Usage: node PROGRAM FOLDER N
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { Packages } from '../../src/packages/packages.js';
import { ProcessTable } from '../../src/processes/table.js';
import { systemClock } from '../../src/shared/clock.js';

const [folder = '', last = ''] = process.argv.slice(2);
const CHANGES = [
  'mkdirSync',
  'writeFileSync',
  'writeSync',
  'renameSync',
  'linkSync',
  'rmSync',
  'fsyncSync',
] as const;
let changes = 0;

function dieInTime(): void {
  changes += 1;
  if (changes === Number(last)) process.kill(process.pid, 'SIGKILL');
}

for (const name of CHANGES) {
  const change = fs[name] as (...args: unknown[]) => unknown;
  Object.assign(fs, {
    [name]: (...args: unknown[]) => {
      dieInTime();
      return change(...args);
    },
  });
}
const { rm } = fs.promises;
Object.assign(fs.promises, {
  rm: (...args: Parameters<typeof rm>) => {
    dieInTime();
    return rm(...args);
  },
});

syncBuiltinESMExports();

const packages = new Packages({
  folder,
  table: new ProcessTable({ daemonId: `test-${process.pid}`, clock: systemClock }),
  clock: systemClock,
  settings: () => ({ runner: 'direct', updateCheckMs: 0, runsScripts: true }),
});
const { PATH = '', HOME = '' } = process.env;
const entry = {
  ...{ server: 'one', command: 'npx', args: ['-y', 'pkg'], cwd: join(folder, 'empty'), declared: {} },
  env: (TOOLHERD_COOKIE: string) => ({ PATH, HOME, TOOLHERD_COOKIE }),
  ...{ runner: undefined, update: 'auto' as const },
};
const launching = packages.launch(entry, { note: () => undefined, stderr: () => undefined });
if (launching !== undefined && 'coming' in launching) await launching.coming;
await packages.close();
fs.writeSync(1, `${changes}\n`);
