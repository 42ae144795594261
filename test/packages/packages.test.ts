import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../support/folder.js';
import { startRegistry } from '../support/npm-registry.js';
import { share } from '../support/share.js';
import { until } from '../support/until.js';
import { openStore, outputOf, type Store } from './support.js';

const says = (word: string) => ({ 'x.js': `#!/usr/bin/env node\nconsole.log('${word}')` });

/** A folder whose node_modules has this package, as npm would have installed it. */
function projectWith(name: string, version: string, files: Record<string, string> = {}): string {
  const folder = makeFolder({
    'package.json': '{}',
    [`node_modules/${name}/package.json`]: JSON.stringify({ name, version, bin: { [name]: 'x.js' } }),
    [`node_modules/${name}/x.js`]: says(`local ${version}`)['x.js'],
    ...files,
  });
  mkdirSync(join(folder, 'node_modules', '.bin'));
  chmodSync(join(folder, 'node_modules', name, 'x.js'), 0o755);
  symlinkSync(`../${name}/x.js`, join(folder, 'node_modules', '.bin', name));
  return folder;
}

/** One that npm never needs to run for. */
function openOffline(settings: Parameters<typeof openStore>[2] = {}): Store {
  return openStore({ env: {} } as never, makeFolder(), settings);
}

/** A prefix of npm without global packages, or with this one. */
function globalPrefix(name?: string): Record<string, string> {
  const folder = name === undefined ? makeFolder() : projectWith(name, '3.0.0');
  if (name !== undefined) {
    mkdirSync(join(folder, 'lib'));
    symlinkSync('../node_modules', join(folder, 'lib', 'node_modules'));
    symlinkSync('node_modules/.bin', join(folder, 'bin'));
  }
  return { npm_config_prefix: folder };
}

describe('the search for npm', () => {
  it('passes over parts of PATH that are no folders or cannot be read', () => {
    const folder = makeFolder({ file: '' });
    const store = openOffline();
    const entry = store.entry(['-y', 'pkg']);
    const env = (cookie: string) => {
      const given = entry.env(cookie);
      return { ...given, PATH: `${join(folder, 'file')}:${'x'.repeat(5000)}:${given.PATH}` };
    };
    expect(store.packages.describe({ ...entry, env })?.runner).toBe('direct');
  });

  it('takes no flag for the name of a package', () => {
    const store = openOffline();
    for (const args of [
      ['-y', '--', '--force'],
      ['-p', '--foreground-scripts', 'x'],
      ['--', '-g'],
    ])
      expect(store.packages.describe(store.entry(args))?.runner).toMatch(/^plain: /);
  });

  it('gives a plain npx no install scripts where the config denies them', () => {
    const store = openOffline({ runner: 'plain', runsScripts: false });
    const launching = store.packages.launch(store.entry(['-y', 'pkg']), store.on);
    expect(launching).toMatchObject({ launch: { env: { npm_config_ignore_scripts: 'true' } } });
  });
});

describe('npx as written', () => {
  const runnerOf = (args: readonly string[], fields: object = {}, env: Record<string, string> = {}) => {
    const store = openOffline();
    return store.packages.describe(store.entry(args, fields, env))?.runner;
  };

  it('npx is started as written when the entry or the config says so', () => {
    expect(runnerOf(['-y', 'pkg'], { runner: 'plain' })).toBe("plain: its entry says 'runner: plain'");
    const store = openOffline({ runner: 'plain' });
    const entry = store.entry(['-y', 'pkg']);
    expect(store.packages.describe(entry)?.runner).toBe("plain: the config says 'daemon.runner: plain'");
    expect(store.packages.describe({ ...entry, runner: 'direct' })?.runner).toBe('direct');
    const launching = store.packages.launch(entry, store.on);
    expect(launching).toEqual({ launch: { command: 'npx', args: ['-y', 'pkg'], path: [], env: {} } });
  });

  it('npx is started as written when its arguments are not resolved, or a variable gives it others', () => {
    expect(runnerOf(['-c', 'x'])).toBe('plain: -c is not resolved');
    expect(runnerOf(['-y', 'pkg'], {}, { NPM_CONFIG_CALL: 'x' })).toBe(
      'plain: npm_config_call is not resolved',
    );
  });

  it('npx is started as written when the one in PATH is not that of npm', () => {
    const folder = makeFolder({ npx: '#!/bin/sh\n' });
    chmodSync(join(folder, 'npx'), 0o755);
    expect(runnerOf(['-y', 'pkg'], {}, { PATH: `${folder}:${process.env.PATH}` })).toBe(
      "plain: the npx that it runs is not npm's own",
    );
  });

  it('npx is started in a folder that has settings of npm, is in workspaces, or is the package itself', () => {
    const settings = makeFolder({ 'package.json': '{}', '.npmrc': '', 'sub/x': '' });
    expect(runnerOf(['-y', 'pkg'], { cwd: join(settings, 'sub') })).toContain('has settings of npm');
    const root = makeFolder({ 'package.json': '{"workspaces":["*"]}', 'one/package.json': '{}' });
    expect(runnerOf(['-y', 'pkg'], { cwd: join(root, 'one') })).toBe(
      'plain: its folder is in one of workspaces',
    );
    const own = makeFolder({ 'package.json': '{"name":"pkg","bin":"x.js"}' });
    expect(runnerOf(['-y', 'pkg'], { cwd: own })).toContain('has this command');
  });

  it('npx is started when only npm can tell whether the package of the folder satisfies a range', () => {
    const cwd = projectWith('pkg', '2.0.0');
    expect(runnerOf(['-y', 'pkg@^2'], { cwd }, globalPrefix())).toContain('only npm can tell');
  });

  it('other commands have nothing to do with it', () => {
    const store = openOffline();
    expect(store.packages.describe(store.entry([], { command: 'uvx' }))).toBeUndefined();
    expect(store.packages.launch(store.entry([], { command: 'uvx' }), store.on)).toBeUndefined();
  });
});

describe('a package that is installed already', () => {
  it('a package in the folder or a parent is started from there, without npm', async () => {
    const store = openOffline();
    const folder = projectWith('pkg', '2.0.0', { 'sub/x': '' });
    for (const args of [
      ['-y', 'pkg'],
      ['-y', 'pkg@2.0.0'],
      ['-p', 'pkg', 'pkg'],
    ]) {
      const entry = store.entry(args, { cwd: join(folder, 'sub') });
      const launching = store.packages.launch(entry, store.on);
      expect(launching).toHaveProperty('launch');
      expect((await outputOf(entry, await store.launch(entry))).stdout).toBe('local 2.0.0\n');
    }
    expect(store.notes.at(-1)).toBe('runs pkg 2.0.0 without npx (from the node_modules of its folder)');
  });

  it('a global package is started from its place; npm is asked once where that is', async () => {
    const store = openOffline();
    const env = globalPrefix('pkg');
    const entry = store.entry(['-y', 'pkg'], {}, env);
    expect(store.packages.launch(entry, store.on)).toHaveProperty('coming');
    expect((await outputOf(entry, await store.launch(entry))).stdout).toBe('local 3.0.0\n');
    expect(store.packages.launch(entry, store.on)).toHaveProperty('launch');
    expect(store.packages.describe(store.entry(['-y', 'pkg@^3'], {}, env))?.runner).toContain(
      'only npm can tell',
    );
  });
});

describe('the settings of npm', () => {
  const registry = share(() => startRegistry());

  it('those in the npmrc of its prefix count for an installation, as for npx', async () => {
    registry().publish({ name: 'told', version: '1.0.0', bin: 'x.js', files: says('told') });
    const { npm_config_registry: address = '', ...env } = registry().env;
    const prefix = makeFolder({ 'etc/npmrc': `registry=${address}\n` });
    const store = openStore({ env } as never);
    const entry = store.entry(['-y', 'told'], {}, { npm_config_prefix: prefix });
    expect((await outputOf(entry, await store.launch(entry))).stdout.trim()).toBe('told');
  });
});

describe('the store', () => {
  const registry = share(() => startRegistry());

  it('does not use an installation of which a cleaner left a part: it installs the package again', async () => {
    registry().publish({ name: 'swept', version: '1.0.0', bin: 'x.js', files: says('whole') });
    const store = openStore(registry());
    const entry = store.entry(['-y', 'swept'], {}, globalPrefix());
    await store.launch(entry);
    const installed = join(store.folder, 'installed');
    for (const name of readdirSync(installed))
      rmSync(join(installed, name, 'node_modules'), { recursive: true });
    expect((await outputOf(entry, await store.launch(entry))).stdout.trim()).toBe('whole');
  });

  it('does not let an entry with update: manual follow one with auto', async () => {
    registry().publish({ name: 'moved', version: '1.0.0', bin: 'x.js', files: says('old') });
    const store = openStore(registry());
    const env = globalPrefix();
    const auto = store.entry(['-y', 'moved'], {}, env);
    const manual = store.entry(['-y', 'moved'], { server: 'manual', update: 'manual' }, env);
    for (const entry of [auto, manual]) await store.launch(entry);
    registry().publish({ name: 'moved', version: '1.1.0', bin: 'x.js', files: says('new') });
    await store.packages.update(auto, '1.1.0');
    const say = async (entry: typeof auto) =>
      (await outputOf(entry, await store.launch(entry))).stdout.trim();
    expect([await say(auto), await say(manual)]).toEqual(['new', 'old']);
  });

  it('keeps the version that runs, also when the next start has another', async () => {
    registry().publish({ name: 'grows', version: '1.0.0', bin: 'x.js', files: says('old') });
    const store = openStore(registry());
    const entry = store.entry(['-y', 'grows'], {}, globalPrefix());
    const { path } = await store.launch(entry);
    registry().publish({ name: 'grows', version: '1.1.0', bin: 'x.js', files: says('new') });
    await store.packages.update(entry, '1.1.0');
    const folder = dirname(dirname(path[0] ?? ''));
    const longAgo = new Date(Date.now() - 31 * 86_400_000);
    utimesSync(join(folder, 'installed.json'), longAgo, longAgo);
    await store.packages.prune([entry]);
    expect(existsSync(folder)).toBe(true);
  });
});

describe('versions', () => {
  const shared = share(async () => {
    const registry = await startRegistry();
    const at = (version: string, tags?: string[]) => ({
      ...{ name: 'moves', version, bin: 'x.js', files: says(version) },
      ...(tags && { tags }),
    });
    registry.publish(at('1.0.0'));
    return { registry, publish: (version: string) => registry.publish(at(version)) };
  });

  it('a version stays as it was resolved until an update, and an exact one for ever', async () => {
    const { registry, publish } = shared();
    const store = openStore(registry, makeFolder(), { updateCheckMs: 1 });
    const env = globalPrefix();
    const tag = store.entry(['-y', 'moves@latest'], {}, env);
    const manual = store.entry(['-y', 'moves'], { server: 'manual', update: 'manual' }, env);
    const exact = store.entry(['-y', 'moves@1.0.0'], { server: 'exact' }, env);
    const say = async (entry: typeof tag) => (await outputOf(entry, await store.launch(entry))).stdout.trim();
    expect([await say(tag), await say(manual), await say(exact)]).toEqual(['1.0.0', '1.0.0', '1.0.0']);
    publish('1.1.0');

    const asked = await Promise.all([tag, manual, exact].map((entry) => store.packages.versions(entry)));
    expect(asked.map((one) => one?.versions)).toEqual([
      {
        ...{ server: 'one', package: 'moves', requested: 'moves@latest', update: 'auto' },
        ...{ version: '1.0.0', installed: '1.0.0', latest: '1.1.0', behind: true, refused: null },
      },
      expect.objectContaining({ server: 'manual', update: 'manual', latest: '1.1.0' }),
      undefined,
    ]);
    // the start after which npm is asked in the background still has the old version
    expect(await say(tag)).toBe('1.0.0');
    expect(await say(manual)).toBe('1.0.0');
    await until(() => store.notes.includes('npm installed moves 1.1.0; the next start uses it'));
    await until(() => store.notes.includes('moves 1.1.0 is there; "toolherd update" installs it'));
    expect([await say(tag), await say(manual), await say(exact)]).toEqual(['1.1.0', '1.0.0', '1.0.0']);
    expect(store.notes).toContain('runs moves 1.1.0 without npx; the last start had 1.0.0');

    expect(await store.packages.update(manual, '1.1.0')).toEqual({ version: '1.1.0', refused: null });
    expect(await say(manual)).toBe('1.1.0');
    expect(await store.packages.update(exact, '1.1.0')).toBeUndefined();
  });

  it('a version that no config has used for 30 days is removed; one that a config uses stays', async () => {
    const { registry } = shared();
    const store = openStore(registry);
    const env = globalPrefix();
    const [used, unused] = ['moves@1.0.0', 'moves'].map((one) => store.entry(['-y', one], {}, env));
    const folders = await Promise.all(
      [used!, unused!].map(async (entry) => dirname(dirname(dirname((await store.launch(entry)).command)))),
    );
    const old = Date.now() / 1000 - 31 * 24 * 60 * 60;
    for (const folder of folders) utimesSync(join(folder, 'installed.json'), old, old);
    await store.packages.prune([used!]);
    expect(folders.map((folder) => existsSync(folder))).toEqual([true, false]);
    expect(readdirSync(join(store.folder, 'requests'))).toHaveLength(1);
  });

  it('npm gets --ignore-scripts where install scripts are denied, and such installations are kept apart', async () => {
    const { registry } = shared();
    const scripts = { install: 'echo built > built' };
    const program = "#!/usr/bin/env node\nconsole.log(require('node:fs').existsSync(`${__dirname}/built`))";
    registry.publish({
      name: 'builds',
      version: '1.0.0',
      bin: 'x.js',
      files: { 'x.js': program },
      manifest: { scripts },
    });
    const folder = makeFolder();
    const env = globalPrefix();
    for (const runsScripts of [true, false]) {
      const store = openStore(registry, folder, { runsScripts });
      const entry = store.entry(['-y', 'builds'], {}, env);
      expect((await outputOf(entry, await store.launch(entry))).stdout).toBe(`${runsScripts}\n`);
    }
  });

  it('a folder without a whole installed.json is installed again', async () => {
    const { registry } = shared();
    const store = openStore(registry);
    const entry = store.entry(['-y', 'moves@1.0.0'], {}, globalPrefix());
    const { command } = await store.launch(entry);
    const manifest = join(dirname(dirname(dirname(command))), 'installed.json');
    writeFileSync(manifest, '{"format":1,"na');
    expect(store.packages.launch(entry, store.on)).toHaveProperty('coming');
    expect((await outputOf(entry, await store.launch(entry))).stdout).toBe('1.0.0\n');
    expect(store.packages.launch(entry, store.on)).toHaveProperty('launch');
  });
});
