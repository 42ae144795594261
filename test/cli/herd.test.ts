import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Outcome, toolherd } from '../support/command.js';
import { makeHome } from '../support/herd.js';

const FIXTURE = join(import.meta.dirname, '..', 'fixtures', 'good.mjs');

const CONFIG = `version: "1.0"
security:
  allowed_commands: ["${process.execPath}"]
mcp_servers:
  - name: good
    description: A good one
    server: good
    command: "${process.execPath}"
    args: ["${FIXTURE}"]
  - name: off
    description: Switched off
    server: off
    command: npx
    enabled: false
`;

/** The command in a home whose daemon does not outlive the test. */
function makeCommand(config = CONFIG) {
  const home = makeHome(config);
  const run = async (...args: string[]): Promise<Outcome> => {
    const outcome = await toolherd(args, { cwd: home.folder, env: { TOOLHERD_HOME: home.folder } });
    return outcome;
  };
  const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);
  const up = async () => {
    const { pid } = await json('up');
    home.adopt(pid);
  };
  return { home, run, json, up };
}

describe('the command and the daemon', () => {
  it('commands that only read do not start a daemon: exit 3', async () => {
    const { run } = makeCommand();
    for (const command of ['status', 'events']) {
      const { status, stderr } = await run(command);
      expect(stderr).toMatch(
        /^error: DaemonNotRunningError: no daemon is running on .*\n {2}fix: start it with 'toolherd up'\n$/,
      );
      expect(status).toBe(3);
    }
  });

  it('up returns when the socket serves, and reports a daemon that runs already', async () => {
    const { run, up } = makeCommand();
    await up();
    expect(await run('up')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^already running \(pid \d+\)\n$/),
    });
  });

  it('up shows the problems of a bad config and starts nothing: exit 78', async () => {
    const { run, home } = makeCommand('version: "1.0"\nmcp_server: []\n');
    const { status, stderr } = await run('up');
    expect(stderr).toContain("ConfigError: Unknown key 'mcp_server'");
    expect(stderr).toContain(`${home.configFile}:2:1`);
    expect(status).toBe(78);
    expect((await run('status')).status).toBe(3);
  });

  it('FR-024: the first call starts a lazy server, and down stops everything', async () => {
    const { run, json, up, home } = makeCommand();
    await up();
    expect((await json('status')).servers[0]).toMatchObject({
      name: 'good',
      state: 'created',
      detail: 'idle',
      pids: [],
    });
    const call = await run('call', 'good.echo', 'value=hi');
    expect(call).toMatchObject({ status: 0, stderr: '' });
    expect(call.stdout).toContain('hi');
    const { servers } = await json('status', 'good');
    expect(servers[0]).toMatchObject({ state: 'connected', detail: 'running', calls: 1, failures: 0 });
    expect(await run('down')).toMatchObject({ status: 0, stdout: 'stopped: good\n' });
    expect(() => process.kill(servers[0].pids[0], 0)).toThrow();
    // the socket is removed when the command returns
    expect(existsSync(home.socket)).toBe(false);
  });

  it('start, stop, restart and reset show the new state, and need a name', async () => {
    const { run, json, up } = makeCommand();
    await up();
    expect((await json('start', 'good', '--wait')).servers[0]).toMatchObject({
      state: 'connected',
      incarnation: 1,
    });
    expect((await json('restart', 'good', '--wait')).servers[0]).toMatchObject({
      state: 'connected',
      incarnation: 2,
    });
    expect((await json('stop', '--all', '--wait')).servers[0]).toMatchObject({
      state: 'disconnected',
      detail: 'stopped',
    });
    expect((await json('reset', 'good')).servers[0]).toMatchObject({ detail: 'stopped' });
    expect(await run('start')).toMatchObject({ status: 2 });
    expect(await run('stop', 'goood')).toMatchObject({
      status: 4,
      stderr: expect.stringContaining("did you mean 'good'?"),
    });
  });

  it('a call does not start a stopped server: exit 1, and the fix names the start command', async () => {
    const { run, up } = makeCommand();
    await up();
    await run('stop', 'good');
    const { status, stdout, stderr } = await run('call', 'good.echo', 'value=hi');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('error: ServerUnavailableError: good: was stopped');
    expect(stderr).toContain('  sent: no, the tool did not run\n  fix: toolherd start good\n');
  });

  it('an unknown server or tool is exit 4, an invalid argument exit 2', async () => {
    const { run, up } = makeCommand();
    await up();
    expect(await run('call', 'goood.echo')).toMatchObject({
      status: 4,
      stderr: expect.stringContaining("did you mean 'good'?"),
    });
    expect(await run('call', 'good.ecko', 'value=hi')).toMatchObject({
      status: 4,
      stderr: expect.stringContaining("did you mean 'echo'?"),
    });
    expect(await run('call', 'good.echo', 'text')).toMatchObject({ status: 2 });
    expect(await run('call', 'good.echo', '--args', '[1]')).toMatchObject({ status: 2 });
    expect(await run('call', 'off.echo')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('off: is disabled'),
    });
    expect(await run('call')).toMatchObject({ status: 2 });
  });

  it('tools, why and inspect show the tools, the journal and the charts', async () => {
    const { run, json, up } = makeCommand();
    await up();
    expect((await run('tools', 'good')).stdout).toMatch(/^TOOL +DESCRIPTION\ngood\.echo/);
    expect((await json('tools', 'good')).tools[0]).toMatchObject({
      server: 'good',
      name: 'echo',
      exposed_name: 'good__echo',
    });
    expect((await run('why', 'good')).stdout).toMatch(/^good is running, since \d+s\.\n\nWhat happened:\n/);
    const inspection = await json('inspect', 'good');
    expect(inspection).toMatchObject({
      server: 'good',
      spec: { name: 'good' },
      snapshot: { server: 'connected.serving' },
    });
    expect((await run('inspect', 'good', '--chart', 'mermaid')).stdout).toMatch(/^stateDiagram-v2\n/);
    expect((await run('inspect', 'good', '--chart', 'svg')).stdout).toMatch(/^<svg /);
    expect((await run('inspect', 'good', '--chart', 'png')).status).toBe(2);
  });

  it('logs shows entries, and -n needs a number', async () => {
    const { run, json, up } = makeCommand();
    await up();
    await run('call', 'good.echo', 'value=hi');
    expect((await json('logs')).entries).toContainEqual(
      expect.objectContaining({ server: null, text: 'serving' }),
    );
    expect((await run('logs', 'good', '-n', '1')).status).toBe(0);
    expect((await run('logs', 'good', '-n', 'x')).status).toBe(2);
    expect((await run('logs', 'absent')).stderr).toBe(
      'error: ServerNotFoundError: no server is called \'absent\'\n  fix: see "toolherd list --all" and "toolherd status"\n',
    );
  });

  it('a command that needs the daemon starts it, unless --no-autostart is given', async () => {
    const { run, json, home } = makeCommand();
    expect((await run('tools', '--no-autostart')).status).toBe(3);
    const { status, stderr } = await run('call', 'good.echo', 'value=hi');
    expect({ status, stderr }).toEqual({ status: 0, stderr: 'starting the daemon …\n' });
    home.adopt((await json('status')).daemon.pid);
  });
});
