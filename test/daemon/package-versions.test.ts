import { describe, expect, it } from 'vitest';
import { command, config } from '../faults/config.js';
import { toolherd } from '../support/command.js';
import { startHerd, until } from '../support/herd.js';
import { type Registry, serverFiles, startRegistry } from '../support/npm-registry.js';

const npx = (name: string, { env }: Registry, more: Record<string, string> = {}) =>
  command(name, 'npx', ['-y', 'served'], { env: { ...env, ...more } });

/** The server of the second version describes its tools in other words. */
const CHANGED = {
  ...serverFiles(),
  'mini.mjs': serverFiles()['mini.mjs']!.replace(
    "inputSchema: { type: 'object' }",
    "description: 'new words', $&",
  ),
};

describe('the versions of a herd', () => {
  it('an update restarts servers without a call in flight; pins name the version that changed a tool', async () => {
    const registry = await startRegistry();
    registry.publish({ name: 'served', version: '1.0.0' });
    const { fleet, say, status, home } = await startHerd(
      config([npx('one', registry), npx('busy', registry)]),
    );
    await Promise.all([say('one', 'pid'), say('busy', 'pid')]);
    registry.publish({ name: 'served', version: '2.0.0', files: CHANGED });
    expect((await fleet.outdated()).packages).toMatchObject([
      { server: 'one', version: '1.0.0', latest: '2.0.0', behind: true },
      { server: 'busy', version: '1.0.0', latest: '2.0.0', behind: true },
    ]);
    const run = (...args: string[]) => toolherd(args, { cwd: home.folder, env: home.environment });
    expect((await run('outdated', 'one')).stdout).toMatch(/^one +served +1\.0\.0 +1\.0\.0 +2\.0\.0$/m);
    expect((await run('update', 'one', '--dry-run')).stdout).toBe(
      'one: served 1.0.0 → 2.0.0 would be installed\n',
    );
    expect((await run('update', 'nosuch')).status).toBe(4);
    void fleet.call({ server: 'busy', tool: 'wait' }).catch(() => undefined);
    await until(async () => (await status('busy')).in_flight === 1);
    expect((await fleet.update({ all: true }, true)).packages.map(({ result }) => result)).toEqual([
      'would_update',
      'would_update',
    ]);
    expect((await fleet.update({ all: true })).packages).toMatchObject([
      { server: 'one', installed: '2.0.0', result: 'updated', restarted: true },
      { server: 'busy', installed: '2.0.0', result: 'updated', restarted: false },
    ]);
    await say('one', 'pid');
    expect((await status('one')).package?.version).toBe('2.0.0');
    const changed = await until(async () =>
      (await fleet.pins({ server: 'one' })).servers[0]?.tools.find(({ state }) => state === 'changed'),
    );
    expect([changed.pinned?.package, changed.offered?.package]).toEqual(['served@1.0.0', 'served@2.0.0']);
  });

  it('a package that was never installed is not behind; outdated and update say that it is not installed', async () => {
    const registry = await startRegistry();
    registry.publish({ name: 'served', version: '1.0.0' });
    const { fleet, home } = await startHerd(config([npx('one', registry)]));
    const run = (...args: string[]) => toolherd(args, { cwd: home.folder, env: home.environment });
    expect(await run('outdated')).toEqual({
      status: 0,
      stdout: '',
      stderr: 'not installed yet: one. The first start installs the newest version\n',
    });
    expect(await run('update', '--all')).toMatchObject({
      status: 0,
      stdout: 'one: served is not installed yet; the first start installs the newest version\n',
    });
    expect((await fleet.outdated()).packages).toMatchObject([
      { server: 'one', installed: null, latest: null, behind: false, problem: null },
    ]);
  });

  it('an update that npm fails shows the last lines of npm without secrets, and what to do', async () => {
    const registry = await startRegistry();
    registry.publish({ name: 'served', version: '1.0.0' });
    const { fleet, say, home, status } = await startHerd(
      config([npx('one', registry, { API_TOKEN: 'sesame-7f3a91c2' })]),
    );
    await say('one', 'pid');
    const scripts = { install: 'echo "cannot build with $API_TOKEN" >&2; exit 1' };
    registry.publish({ name: 'served', version: '2.0.0', manifest: { scripts } });
    const run = (...args: string[]) => toolherd(args, { cwd: home.folder, env: home.environment });
    const { status: code, stdout } = await run('update', 'one');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^one: served could not be installed: npm exited with code 1$/m);
    expect(stdout).toMatch(/^ {2}why: an install script failed with code 1; the last lines on stderr:$/m);
    expect(stdout).toMatch(/^ {4}\| .*cannot build with \[redacted:API_TOKEN\]$/m);
    expect(stdout).toMatch(/^ {2}fix: install what the script needs, see "toolherd logs one"$/m);
    expect((await run('logs', 'one')).stdout).toContain('cannot build with [redacted');
    expect(`${stdout}${(await run('outdated')).stdout}`).not.toContain('sesame');
    // the version that runs is still there, and the reason is known
    expect((await status('one')).package?.version).toBe('1.0.0');
    expect((await fleet.outdated()).packages).toMatchObject([
      { behind: true, installed: '1.0.0', refused: expect.stringContaining('npm exited with code 1') },
    ]);
  });

  it('a version that npm does not choose is reported with the reason, and the server is not restarted', async () => {
    const registry = await startRegistry();
    registry.publish({ name: 'served', version: '1.0.0' });
    const { say, home } = await startHerd(config([npx('one', registry)]));
    const pid = await say('one', 'pid');
    registry.publish({ name: 'served', version: '2.0.0', manifest: { engines: { node: '>=99' } } });
    const run = (...args: string[]) => toolherd(args, { cwd: home.folder, env: home.environment });
    expect((await run('update', 'one')).stdout).toMatch(/^one: served 1\.0\.0 stays: npm chose 1\.0\.0: /);
    expect(await say('one', 'pid')).toBe(pid);
    const { status, stdout } = await run('outdated');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^one +served +1\.0\.0 +1\.0\.0 +2\.0\.0 +npm does not install it$/m);
    expect(stdout).toMatch(/^one: served 2\.0\.0 was not installed: npm chose 1\.0\.0: /m);
    expect((await run('update', 'one', '--dry-run')).stdout).toContain('the last time it was not: npm chose');
  });
});
