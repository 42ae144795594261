import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeProject, shared } from '../../../daemon/views/support.js';
import { config, server } from '../../../faults/config.js';
import { startBridge } from '../../../support/bridge.js';
import { toolherd } from '../../../support/command.js';
import { serving, servingPid, startForeground } from '../../../support/foreground.js';
import { type Home, isAlive, makeHome, until } from '../../../support/herd.js';
import { slowServer, startSlow } from '../../../support/slow-server.js';

const ECHO = { method: 'tools/call', params: { name: 'good__echo', arguments: { value: 'kept' } } };

const run = (home: Home, ...args: string[]) => toolherd(args, { cwd: home.folder, env: home.environment });

/** A folder whose agent.yaml is allowed and has the server `mine`. */
async function allowedProject(home: Home) {
  const project = makeProject(home, 'shop', [shared('mine')]);
  await project.allow();
  return project;
}

const daemonLog = ({ folder }: Home) => readFileSync(join(folder, 'state', 'logs', 'daemon.log'), 'utf8');

/** A daemon that was ordered to end and takes 10 s for it, because one of its servers ignores the order to stop. */
async function beginEnding(stop?: { close: number; term: number }) {
  const home = makeHome(config([server('good', 'good.mjs'), slowServer(stop)]));
  const daemon = await home.start();
  const slow = await startSlow(home);
  daemon.kill('SIGTERM');
  await until(() => daemonLog(home).includes('"signal":"SIGTERM"'));
  return { home, pid: daemon.pid, slow };
}

describe('a daemon that is ending', () => {
  it('says so in its status, and in the answer to hello', async () => {
    const { home, slow } = await beginEnding();
    expect((await slow.fleet.status([])).daemon.closing).toEqual({ reason: 'shutdown' });
    const { status, stdout } = await run(home, 'status', '--json');
    expect([status, JSON.parse(stdout).daemon.closing]).toEqual([0, { reason: 'shutdown' }]);
  });

  it('is not "already running": up waits for its end and starts the next one', async () => {
    const { home, pid } = await beginEnding();
    const { status, stdout } = await run(home, 'up', '--json');
    const next = JSON.parse(stdout) as { pid: number; already_running: boolean };
    home.adopt(next.pid);
    expect([status, next.already_running]).toEqual([0, false]);
    await until(() => !isAlive(pid));
    expect(await servingPid(home)).toBe(next.pid);
  });

  it('is waited for longer than the stop timeouts of its servers', async () => {
    const { home } = await beginEnding({ close: 20, term: 20 });
    const { status, stdout } = await run(home, 'up', '--json');
    const next = JSON.parse(stdout) as { pid: number; already_running: boolean };
    home.adopt(next.pid);
    expect([status, next.already_running]).toEqual([0, false]);
    expect(await servingPid(home)).toBe(next.pid);
  });

  it('is waited for by up --foreground, which then serves', async () => {
    const { home } = await beginEnding();
    const { pid } = startForeground(home);
    await serving(home, (found) => found === pid);
  });

  it('is waited for by a call, which then starts the next daemon', async () => {
    const { home, pid } = await beginEnding();
    const { status, stdout } = await run(home, 'call', 'good.echo', 'value=here');
    expect([status, stdout.trim()]).toEqual([0, 'here']);
    await serving(home, (found) => found !== 0 && found !== pid);
  });

  it('is waited for by a call in a folder with an agent.yaml, which then starts the next daemon', async () => {
    const { home, pid } = await beginEnding();
    const { folder } = await allowedProject(home);
    const { status, stdout, stderr } = await toolherd(['call', 'mine.echo', 'value=here'], {
      cwd: folder,
      env: home.environment,
    });
    expect([status, stdout.trim(), stderr]).toEqual([0, 'here', 'starting the daemon …\n']);
    await serving(home, (found) => found !== 0 && found !== pid);
  });

  it('is not waited for by a call with --no-autostart, which fails with the reason', async () => {
    const { home } = await beginEnding();
    const { folder } = await allowedProject(home);
    const { status, stdout } = await toolherd(['call', 'mine.echo', 'value=x', '--no-autostart', '--json'], {
      cwd: folder,
      env: home.environment,
    });
    expect([status, JSON.parse(stdout).error]).toEqual([
      1,
      { type: 'ServerUnavailableError', message: 'the daemon is shutting down', fix: 'toolherd up' },
    ]);
  });

  it('shows the global servers to status, also in a folder with an agent.yaml', async () => {
    const { home } = await beginEnding();
    const { folder } = await allowedProject(home);
    const { status, stdout } = await toolherd(['status', '--json'], { cwd: folder, env: home.environment });
    expect([status, JSON.parse(stdout).daemon.closing]).toEqual([0, { reason: 'shutdown' }]);
  });

  it('is not waited for beyond --timeout: exit 124', async () => {
    const { home, pid } = await beginEnding();
    const { status, stderr } = await run(home, 'up', '--timeout', '300ms');
    expect(status).toBe(124);
    expect(stderr).toContain(`the daemon (pid ${pid}) is ending`);
  });

  it('does not refuse a new bridge, which waits and starts the next daemon', async () => {
    const { home, pid } = await beginEnding();
    const bridge = startBridge(home);
    bridge.say({ id: 1, ...ECHO });
    expect((await bridge.reply(1)).result).toEqual({ content: [{ type: 'text', text: 'kept' }] });
    await serving(home, (found) => found !== 0 && found !== pid);
  });

  it('does not refuse a new bridge in a folder with an agent.yaml: the next daemon has its servers', async () => {
    const { home, pid } = await beginEnding();
    const { folder: cwd } = await allowedProject(home);
    const bridge = startBridge(home, { cwd });
    bridge.say({ id: 1, method: 'tools/call', params: { name: 'mine__echo', arguments: { value: 'kept' } } });
    expect((await bridge.reply(1)).result).toEqual({ content: [{ type: 'text', text: 'kept' }] });
    await serving(home, (found) => found !== 0 && found !== pid);
  });
});

describe('up --replace', () => {
  it('waits for the old daemon at most --timeout; the new one still takes over', async () => {
    const { home, pid, slow } = await beginEnding();
    const { status, stderr } = await run(home, 'up', '--replace', '--timeout', '300ms');
    expect([status, stderr]).toEqual([124, expect.stringContaining('not done within 300ms')]);
    slow.kill();
    await serving(home, (found) => found !== 0 && found !== pid);
  });
});

describe('a bridge whose daemon was replaced', () => {
  it('is refused by the next daemon if its server is gone: its calls fail at once, with the reason', async () => {
    const home = makeHome(config([server('good', 'good.mjs')]));
    await home.start();
    const bridge = startBridge(home, { flags: ['--server', 'good'] });
    bridge.say({ id: 1, method: 'ping' });
    await bridge.reply(1);
    home.configure(config([server('better', 'good.mjs')]));
    const { stdout } = await run(home, 'up', '--replace', '--json');
    home.adopt(JSON.parse(stdout).pid);
    const began = performance.now();
    bridge.say({ id: 2, method: 'tools/call', params: { name: 'echo', arguments: { value: 'x' } } });
    const { error } = await bridge.reply(2);
    expect(error).toMatchObject({
      message: expect.stringMatching(/tools\/call was not sent.*good/),
      data: { type: 'ServerNotFoundError', sent: false },
    });
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
