import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { makeFolder } from '../support/folder.js';
import { share } from '../support/share.js';
import { openStore, outputOf } from './support.js';

/** Does what npm does for one package, in a hundredth of the time. */
const NPM = `#!/bin/sh
if [ "$1" = prefix ]; then echo /nowhere; exit; fi
mkdir -p node_modules/pkg node_modules/.bin
printf '#!/bin/sh\\necho it runs\\n' > node_modules/pkg/x
chmod +x node_modules/pkg/x
ln -s ../pkg/x node_modules/.bin/pkg
echo '{"packages":{"node_modules/pkg":{"version":"1.0.0","bin":{"pkg":"x"}}}}' > package-lock.json
`;

const program = share(async () => {
  const outfile = join(makeFolder(), 'installer.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, 'dying-installer.ts')],
    ...{ bundle: true, platform: 'node', format: 'esm', outfile },
  });
  return outfile;
});

/** A PATH whose npx is beside this npm. */
function pathWithNpm(): string {
  const folder = makeFolder({ 'npm-cli.js': NPM, 'npx-cli.js': '#!/bin/sh\nexit 1\n' });
  for (const name of ['npm-cli.js', 'npx-cli.js']) chmodSync(join(folder, name), 0o755);
  symlinkSync('npx-cli.js', join(folder, 'npx'));
  return `${folder}:${process.env.PATH}`;
}

/** Installs, and is killed before this change to the disk. */
function install(folder: string, PATH: string, last: number) {
  mkdirSync(join(folder, 'empty'), { recursive: true });
  const env = { PATH, HOME: folder };
  return spawnSync(process.execPath, [program(), folder, String(last)], { env, encoding: 'utf8' });
}

it('an installer killed before any change that it makes to the disk leaves nothing half that is started', async () => {
  const PATH = pathWithNpm();
  const whole = install(makeFolder(), PATH, 0);
  expect(whole.stderr).toBe('');
  const changes = Number(whole.stdout);
  expect(changes).toBeGreaterThan(15);
  let finished = 0;
  for (let last = 1; last <= changes; last += 1) {
    const folder = makeFolder();
    expect(install(folder, PATH, last).signal).toBe('SIGKILL');
    const store = openStore({ env: {} } as never, folder);
    const entry = store.entry(['-y', 'pkg'], { declared: {}, env: () => ({ PATH, HOME: folder }) });
    const launching = store.packages.launch(entry, store.on)!;
    if ('launch' in launching) finished += 1;
    const launch = 'launch' in launching ? launching.launch : await launching.coming;
    expect(await outputOf(entry, launch)).toEqual({ stdout: 'it runs\n', code: 0 });
    // neither the lock nor the folder of the dead one is in the way of the next installation
    await store.packages.update(entry, '1.0.0');
    expect(readdirSync(join(folder, 'locks'))).toEqual([]);
    // a folder that does not yet say whose it is stays for an hour, and has nothing in it
    const left = readdirSync(join(folder, 'temporary'), { recursive: true, encoding: 'utf8' });
    expect(left.filter((name) => /\/(?!owner$)/.test(name))).toEqual([]);
  }
  // it was killed on both sides of the moment from which on the installation counts
  expect(finished).toBeGreaterThan(0);
  expect(finished).toBeLessThan(changes);
});
