import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { config, server } from '../../../faults/config.js';
import { toolherd } from '../../../support/command.js';
import { type Home, herdIn, killDaemon, makeHome, startHerd, until } from '../../../support/herd.js';

const GOOD = config([server('good', 'good.mjs')]);

const commandIn =
  (home: Home, cwd = home.folder) =>
  (...args: string[]) =>
    toolherd(args, { cwd, env: home.environment });

describe('what people read', () => {
  it('why knows after a restart of the daemon what happened before, also when it was killed', async () => {
    const { home, say, daemon } = await startHerd(GOOD);
    const run = commandIn(home);
    const file = join(home.folder, 'state', 'journal.json');
    await say('good', 'echo', { value: 'hi' });
    await until(() => existsSync(file) && readFileSync(file, 'utf8').includes('"ready"'));
    await killDaemon(home, daemon);
    const second = await herdIn(home, await home.start());
    expect((await run('why', 'good')).stdout).toMatch(/ago\s+earlier process 1 is ready/);
    expect((await run('why', 'good', '-v')).stdout).toMatch(/earlier incarnation 1: /);
    await second.say('good', 'echo', { value: 'hi' });
    expect((await run('why', 'good')).stdout).toMatch(/ago\s+process 1 is ready/);
    await run('down');
    await home.start();
    expect((await run('why', 'good')).stdout).toMatch(/ago\s+earlier process 1 is asked to exit/);
  });

  it('stop and down say that nothing runs if no daemon does, and offer no start', async () => {
    const home = makeHome(GOOD);
    const run = commandIn(home);
    for (const args of [['stop', 'good'], ['down']]) {
      const { status, stderr } = await run(...args);
      expect(status).toBe(3);
      expect(stderr).toContain('no daemon is running');
      expect(stderr).toContain('nothing is needed: no server runs without it');
      expect(stderr).not.toContain('toolherd up');
    }
  });

  it('status -v has two lines more for each server: how it is reached, and what its lists are', async () => {
    const { home, say } = await startHerd(GOOD);
    await say('good', 'echo', { value: 'hi' });
    const run = commandIn(home);
    const { stdout } = await run('status', '-v');
    expect(stdout).toContain((await run('status')).stdout.split('\n')[0]);
    expect(stdout).toMatch(
      /^good: stdio, singleton, incarnation 1, 0 in flight, p99 [\d.]+ms, MCP \S+, \S.*$/m,
    );
    expect(stdout).toMatch(/^good: lists: tools \(\d+, fresh\)/m);
  });

  it('inspect has a page for people, and everything with --json', async () => {
    const { home, say } = await startHerd(GOOD);
    await say('good', 'echo', { value: 'hi' });
    const run = commandIn(home);
    const { stdout } = await run('inspect', 'good');
    expect(stdout).not.toMatch(/^[{}]/m);
    expect(stdout.split('\n').length).toBeLessThan(60);
    expect(stdout).toMatch(/^good is running/);
    expect(stdout).toMatch(/^ {2}command {2,}\S/m);
    expect(stdout).toMatch(/^ {2}server {2,}connected\.serving$/m);
    expect(stdout).toContain('process 1 is ready');
    expect(JSON.parse((await run('inspect', 'good', '--json')).stdout)).toMatchObject({
      server: 'good',
      spec: { name: 'good' },
    });
  });

  it('list shows the global servers too, and says where none are how to add one', async () => {
    const home = makeHome(GOOD);
    const empty = join(home.folder, 'empty');
    mkdirSync(empty);
    const run = commandIn(home, empty);
    expect(await run('list')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^good +global/m),
      stderr: '',
    });
    home.configure(config([]));
    expect((await run('list')).stdout).toBe('no servers are configured; add one with: toolherd add\n');
    expect((await run('list', '-g')).stdout).toContain('add one with: toolherd add');
  });

  it('tools of an empty herd says how to add a server', async () => {
    const { home } = await startHerd(config([]));
    expect((await commandIn(home)('tools')).stdout).toBe('no tools; add a server with: toolherd add\n');
  });

  it('import says where it looked', async () => {
    const home = makeHome(GOOD);
    const run = commandIn(home);
    const { stdout, stderr } = await run('import', '--from', 'cursor', '--dry-run');
    expect(stdout).toBe('no client has a config that import knows\n');
    expect(stderr).toBe(`looked for:\n  Cursor: ${home.folder}/.cursor/mcp.json\n`);
    expect((await run('import', '--dry-run')).stderr).toContain(
      `\n  Codex: ${home.folder}/.codex/config.toml\n`,
    );
  });

  it('remove says in words that no config has the server any more', async () => {
    const home = makeHome(GOOD);
    const { stderr } = await commandIn(home)('remove', 'good', '-g');
    expect(stderr).toContain("no config that toolherd reads here has 'good' any more");
  });

  it('the help of a command names the options of every command in one line', async () => {
    const home = makeHome(GOOD);
    const { stdout } = await commandIn(home)('status', '--help');
    expect(stdout).toContain('Options for every command: --json, --config FILE,');
    expect(stdout).not.toContain('stable output for scripts');
    expect((await commandIn(home)('help')).stdout).toContain('stable output for scripts');
  });

  it('stop without --wait says what it stops, not the state before the order', async () => {
    const { home, say } = await startHerd(GOOD);
    await say('good', 'echo', { value: 'hi' });
    const run = commandIn(home);
    expect(await run('stop', 'good')).toMatchObject({ status: 0, stdout: 'stopping: good\n' });
    await run('stop', 'good', '--wait');
    expect(await run('stop', 'good')).toMatchObject({ status: 0, stdout: 'stopped: good\n' });
  });
});
