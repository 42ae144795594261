import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { signalGroup } from '../../src/processes/group.js';
import { startTimeOf } from '../../src/processes/process-identity.js';
import { systemClock } from '../../src/shared/clock.js';
import { makeFolder } from '../support/folder.js';
import { startRegistry } from '../support/npm-registry.js';
import { share } from '../support/share.js';
import { until } from '../support/until.js';
import { openStore, outputOf, type Store } from './support.js';

const PROGRAM = { 'x.js': "#!/usr/bin/env node\nconsole.log('it runs')" };
/** Counts its installations, and waits while a file is there. */
const SCRIPT = 'echo once >> "$COUNT"; while [ -e "$WAIT" ]; do sleep 0.05; done';

/** What is in a folder of the store. */
function inside({ folder }: Store, name: string): string[] {
  const path = join(folder, name);
  return existsSync(path) ? readdirSync(path) : [];
}

/** For the install script. */
function counting(): { env: Record<string, string>; count(): number; wait(isOn: boolean): void } {
  const folder = makeFolder();
  const [COUNT, WAIT] = [join(folder, 'count'), join(folder, 'wait')];
  return {
    env: { COUNT, WAIT },
    count: () => (existsSync(COUNT) ? readFileSync(COUNT, 'utf8').trim().split('\n').length : 0),
    wait: (isOn) => (isOn ? writeFileSync(WAIT, '') : undefined),
  };
}

describe('an installation that fails', () => {
  const shared = share(async () => {
    const registry = await startRegistry();
    const scripts = { install: SCRIPT };
    registry.publish(
      { name: 'pkg', version: '1.0.0', bin: 'x.js', files: PROGRAM, manifest: { scripts } },
      { name: 'spoiled', version: '1.0.0', bin: 'x.js', files: PROGRAM },
      { name: 'no-bin', version: '1.0.0', bin: {}, files: PROGRAM },
    );
    registry.spoil('spoiled');
    return registry;
  });

  it.each([
    ['asks for the package', /^pkg$/],
    ['downloads it', /\.tgz$/],
    ['runs its install script', undefined],
  ])('npm killed while it %s: nothing is used, and the next start installs', async (_, path) => {
    const registry = shared();
    // an empty cache, so that everything is asked for again
    const own = { npm_config_cache: makeFolder() };
    const store = openStore(registry);
    const { env, count, wait } = counting();
    const entry = store.entry(['-y', 'pkg'], {}, { ...env, ...own });
    wait(path === undefined);
    const release = path === undefined ? () => undefined : registry.hold(path);
    const begun = registry.asked.length;
    const failed = store.launch(entry).then(
      () => undefined,
      (error: Error) => error,
    );
    await until(() =>
      path === undefined ? count() === 1 : registry.asked.slice(begun).some((one) => path.test(one)),
    );
    const [npm] = store.table.list();
    signalGroup(npm!.pid, 'SIGKILL');
    expect((await failed)?.message).toBe('pkg could not be installed: npm was killed by SIGKILL');
    expect(inside(store, 'installed')).toEqual([]);
    expect(inside(store, 'requests')).toEqual([]);
    expect(inside(store, 'temporary')).toEqual([]);
    expect(store.table.size).toBe(0);
    release();
    // the script still waits where that is asked for: another file, another count
    const second = { ...entry, env: (cookie: string) => ({ ...entry.env(cookie), WAIT: '/nowhere' }) };
    const launch = await store.launch(second);
    expect((await outputOf(second, launch)).stdout).toBe('it runs\n');
  });

  it('a tarball with another hash is refused, with the reason of npm', async () => {
    const store = openStore(shared());
    await expect(store.launch(store.entry(['-y', 'spoiled']))).rejects.toMatchObject({
      message: 'spoiled could not be installed: npm exited with code 1 (EINTEGRITY)',
      output: expect.stringContaining('integrity checksum failed'),
    });
    expect(store.stderr()).toContain('EINTEGRITY');
    expect(inside(store, 'installed')).toEqual([]);
  });

  it('a package without a command says so, and what to write', async () => {
    const store = openStore(shared());
    await expect(store.launch(store.entry(['-y', 'no-bin']))).rejects.toMatchObject({
      message: 'no-bin has no command to run',
      isPermanent: true,
      fix: "name the command in 'args': [-y, -p, PACKAGE, COMMAND]",
    });
  });

  it('a package that is installed starts without a registry; the first start of another fails', async () => {
    const registry = await startRegistry();
    registry.publish({ name: 'pkg', version: '1.0.0', bin: 'x.js', files: PROGRAM });
    const store = openStore(registry);
    const entry = store.entry(['-y', 'pkg@latest']);
    await store.launch(entry);
    registry.cut();
    const launching = store.packages.launch(entry, store.on);
    expect(launching).toHaveProperty('launch');
    expect((await outputOf(entry, await store.launch(entry))).stdout).toBe('it runs\n');
    await expect(store.launch(store.entry(['-y', 'other']))).rejects.toMatchObject({
      output: expect.stringMatching(/npm error code (ECONNRESET|UND_ERR_SOCKET)/),
    });
  });

  it('a registry that is cut off in the middle of a download leaves nothing; later the package installs', async () => {
    const registry = await startRegistry();
    registry.publish({ name: 'pkg', version: '1.0.0', bin: 'x.js', files: PROGRAM });
    const store = openStore(registry);
    const entry = store.entry(['-y', 'pkg']);
    const release = registry.hold(/\.tgz$/);
    const failed = store.launch(entry).catch((error: Error) => error.message);
    await until(() => registry.asked.some((path) => path.endsWith('.tgz')));
    registry.cut();
    release();
    expect(await failed).toMatch(/^pkg could not be installed: npm exited with code 1/);
    for (const name of ['installed', 'requests', 'temporary', 'locks'])
      expect(inside(store, name)).toEqual([]);
    registry.mend();
    expect((await outputOf(entry, await store.launch(entry))).stdout).toBe('it runs\n');
  });
});

describe('an installation at the same time as another', () => {
  it('starts of one daemon and of two daemons install once', async () => {
    const registry = await startRegistry();
    const scripts = { install: SCRIPT };
    registry.publish({ name: 'pkg', version: '1.0.0', bin: 'x.js', files: PROGRAM, manifest: { scripts } });
    const { env, count } = counting();
    const one = openStore(registry);
    const other = openStore(registry, one.folder);
    const entry = one.entry(['-y', 'pkg'], {}, env);
    const launches = await Promise.all([one.launch(entry), one.launch(entry), other.launch(entry)]);
    expect(new Set(launches.map(({ command }) => command)).size).toBe(1);
    expect(count()).toBe(1);
    expect(inside(one, 'locks')).toEqual([]);
    expect(inside(one, 'temporary')).toEqual([]);
  });

  it('an installation does not wait for a process that is stopped; the journal names it and what to do', async () => {
    const registry = await startRegistry();
    registry.publish({ name: 'pkg', version: '1.0.0', bin: 'x.js', files: PROGRAM });
    // ten seconds of silence are half a second
    const clock = { ...systemClock, now: () => 20 * systemClock.now() };
    const store = openStore(registry, makeFolder(), {}, clock);
    const entry = store.entry(['-y', 'pkg']);
    const release = registry.hold(/^pkg$/);
    const first = store.packages.launch(entry, store.on) as { coming: Promise<unknown>; cancel(): void };
    await until(() => inside(store, 'locks').length === 1);
    const lock = join(store.folder, 'locks', inside(store, 'locks')[0]!);
    first.cancel();
    await expect(first.coming).rejects.toThrow();
    await until(() => !existsSync(lock));
    release();
    const { pid = 0 } = spawn('sleep', ['600'], { stdio: 'ignore' });
    onTestFinished(() => void process.kill(pid, 'SIGKILL'));
    process.kill(pid, 'SIGSTOP');
    writeFileSync(lock, `${pid} ${startTimeOf(pid) ?? '-'}\n`);
    expect((await outputOf(entry, await store.launch(entry))).stdout).toBe('it runs\n');
    expect(store.notes.slice(-3)).toEqual([
      `process ${pid} installs pkg at the moment: toolherd waits for it`,
      expect.stringMatching(
        `process ${pid} is stopped or hangs while it installs pkg: .*"kill -CONT ${pid}" continues .*"kill ${pid}" ends it`,
      ),
      'runs pkg 1.0.0 without npx',
    ]);
    expect(inside(store, 'locks')).toEqual([]);
  });

  it('a lock of a dead process, and its half installation, are in no way', async () => {
    const registry = await startRegistry();
    registry.publish({ name: 'pkg', version: '1.0.0', bin: 'x.js', files: PROGRAM });
    const store = openStore(registry);
    const entry = store.entry(['-y', 'pkg']);
    const release = registry.hold(/^pkg$/);
    const launching = store.packages.launch(entry, store.on) as { coming: Promise<unknown>; cancel(): void };
    await until(() => inside(store, 'locks').length === 1 && inside(store, 'temporary').length === 1);
    const lock = join(store.folder, 'locks', inside(store, 'locks')[0]!);
    const left = join(store.folder, 'temporary', inside(store, 'temporary')[0]!);
    launching.cancel();
    await expect(launching.coming).rejects.toThrow();
    await until(() => inside(store, 'locks').length === 0);
    release();
    // as a daemon leaves them that was killed: no process has this start time
    mkdirSync(left);
    for (const file of [lock, join(left, 'owner')]) writeFileSync(file, `${process.pid} 1\n`);
    await store.launch(entry);
    expect(inside(store, 'temporary')).toEqual([]);
    expect(inside(store, 'locks')).toEqual([]);
  });
});
