import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { command, config } from '../faults/config.js';
import { toolherd } from '../support/command.js';
import { makeFolder } from '../support/folder.js';
import { herdIn, killDaemon, makeHome, processesOf, startHerd, until } from '../support/herd.js';
import { type Registry, startRegistry } from '../support/npm-registry.js';
import { share } from '../support/share.js';
import { startOnSmallDisk, whyNoDisk } from '../support/small-disk.js';

const npx = (
  name: string,
  { env }: Registry,
  fields: Record<string, unknown> = {},
  args = ['-y', 'served'],
) => command(name, 'npx', args, { env, ...fields });

describe('a server with npx', () => {
  const shared = share(async () => {
    const registry = await startRegistry();
    registry.publish({ name: 'served', version: '1.0.0' });
    return registry;
  });

  it('an npx entry is one process without npx; status, why, inspect and doctor say so', async () => {
    const registry = shared();
    const { say, status, fleet, home } = await startHerd(config([npx('one', registry)]));
    expect(JSON.parse(await say('one', 'argv'))).toEqual([]);
    const { pids, runner, package: found } = await status('one');
    expect({ runner, found }).toEqual({
      runner: 'direct',
      found: { name: 'served', requested: 'served', version: '1.0.0' },
    });
    expect(Number(await say('one', 'pid'))).toBe(pids[0]);
    const env = JSON.parse(await say('one', 'env')) as Record<string, string>;
    expect(env.NODE_COMPILE_CACHE).toBe(join(home.folder, 'cache', 'packages', 'compiled'));
    const { journal } = await fleet.inspect('one');
    expect(journal.filter(({ kind }) => kind === 'noted').map(({ cause }) => cause)).toEqual([
      'npm installs served',
      'runs served 1.0.0 without npx',
    ]);
    const why = await toolherd(['why', 'one'], { cwd: home.folder, env: home.environment });
    expect(why.stdout).toContain('How it runs: served 1.0.0, without npx.');
    const doctor = await toolherd(['doctor'], { cwd: home.folder, env: home.environment });
    expect(doctor.stdout).toMatch(/ok +npx +one: direct \(served 1\.0\.0\)/);
    expect(doctor.stdout).toMatch(/ok +packages +1 installed, \d+K in /);
  });

  it('a plugin with the runtime npx is one process without npx', async () => {
    const packages = [{ runtime: 'npx', transport_type: 'stdio', command: ['served'] }];
    const plugin = makeFolder({ 'plugin.json': JSON.stringify({ name: 'one', packages }) });
    const { env } = shared();
    const entry = { name: 'one', description: 'one', server: 'one', plugin_dir: plugin, env };
    const { say, status } = await startHerd(config([{ ...entry, lifecycle: 'singleton' }]));
    expect(JSON.parse(await say('one', 'argv'))).toEqual([]);
    const { pids, runner } = await status('one');
    expect(runner).toBe('direct');
    expect(Number(await say('one', 'pid'))).toBe(pids[0]);
  });

  it('a server stops at once while npm installs its package, and leaves nothing', async () => {
    const registry = shared();
    const release = registry.hold(/^slow$/);
    const { fleet, status, daemon, home } = await startHerd(
      config([npx('one', registry, {}, ['-y', 'slow'])]),
    );
    const called = fleet.call({ server: 'one', tool: 'pid' });
    await until(() => registry.asked.includes('slow'));
    expect(await status('one')).toMatchObject({ state: 'connecting', pids: [] });
    await fleet.stop({ servers: ['one'] }, true);
    expect((await called).error).toMatchObject({ type: 'ServerUnavailableError', sent: false });
    await until(() => processesOf(daemon.id).every(({ words }) => words.includes('toolherd-watchdog')));
    await until(() => readdirSync(join(home.folder, 'cache', 'packages', 'temporary')).length === 0);
    release();
  });

  it.each([
    ['missing', 'npm found no such package in its registry', "correct the package in 'args' of one"],
    ['spoiled', 'what npm downloaded is not what its registry announced', 'run "npm cache verify"'],
    ['unreachable', 'npm cannot reach its registry', 'check the network with "npm ping"'],
  ])('a call of a package that is %s gets the reason of npm, and what to do', async (name, why, fix) => {
    const registry = await startRegistry();
    if (name !== 'missing') registry.publish({ name, version: '1.0.0' });
    registry.spoil('spoiled');
    if (name === 'unreachable') registry.cut();
    const herd = await startHerd(config([npx('one', registry, { max_restarts: 0 }, ['-y', name])]));
    const { error } = await herd.fleet.call({ server: 'one', tool: 'pid' });
    expect(error).toMatchObject({
      message: expect.stringContaining(`one: ${name} could not be installed: npm exited with code 1`),
      why: expect.stringContaining(why),
      fix: expect.stringContaining(fix),
      sent: false,
    });
  });

  it('a server starts after its daemon was killed in the middle of an installation', async () => {
    const registry = shared();
    const release = registry.hold(/^late$/);
    registry.publish({ name: 'late', version: '1.0.0' });
    const home = makeHome(config([npx('one', registry, {}, ['-y', 'late'])]));
    const first = await herdIn(home, await home.start());
    void first.fleet.call({ server: 'one', tool: 'pid' }).catch(() => undefined);
    await until(() => registry.asked.includes('late'));
    await killDaemon(home, first.daemon);
    await until(() => processesOf(first.daemon.id).length === 0);
    const packages = join(home.folder, 'cache', 'packages');
    expect(existsSync(join(packages, 'installed'))).toBe(false);
    release();
    const second = await herdIn(home, await home.start());
    expect(JSON.parse(await second.say('one', 'argv'))).toEqual([]);
    expect(readdirSync(join(packages, 'temporary'))).toEqual([]);
  });

  it('two daemons with one cache, behind a link, install a package once', async () => {
    const registry = shared();
    const count = join(makeFolder(), 'count');
    const scripts = { install: `echo once >> ${count}` };
    registry.publish({ name: 'raced', version: '1.0.0', manifest: { scripts } });
    // made first: it is removed when both daemons have ended
    const cache = makeFolder();
    const homes = [1, 2].map(() => makeHome(config([npx('one', registry, {}, ['-y', 'raced'])])));
    for (const { folder } of homes) symlinkSync(cache, join(folder, 'cache'));
    const herds = await Promise.all(homes.map(async (home) => herdIn(home, await home.start())));
    const said = await Promise.all(herds.map(({ say }) => say('one', 'argv')));
    expect(said).toEqual(['[]', '[]']);
    expect(readFileSync(count, 'utf8')).toBe('once\n');
  });

  it('nothing is started from a full disk; the error says so, and with room the server starts', async () => {
    const why = whyNoDisk();
    if (why !== undefined)
      return console.warn(`no disk can be mounted here: no full disk was tried (${why})`);
    const registry = shared();
    registry.publish({ name: 'big', version: '1.0.0', files: { data: randomBytes(4 * 2 ** 20) } });
    const entries = [npx('one', registry, { max_restarts: 0 }), npx('big', registry, {}, ['-y', 'big'])];
    const herd = await startOnSmallDisk(config(entries), 2048);
    herd.fill();
    const { error } = await herd.fleet.call({ server: 'one', tool: 'pid' });
    expect(`${error?.message} ${error?.why} ${error?.fix}`).toMatch(
      /served could not be installed.*(ENOSPC|disk is full)/s,
    );
    expect(error?.fix).toMatch(/make room/);
    herd.free();
    // npm unpacks more than fits
    const big = await herd.fleet.call({ server: 'big', tool: 'pid' });
    expect(big.error).toMatchObject({ why: expect.stringContaining('the disk is full'), sent: false });
    await herd.fleet.start({ servers: ['one'] }, true);
    expect(JSON.parse(await herd.say('one', 'argv'))).toEqual([]);
  });
});
