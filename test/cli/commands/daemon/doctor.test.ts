import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkNode } from '../../../../src/cli/commands/daemon/doctor/programs.js';
import { startTimeOf } from '../../../../src/processes/process-identity.js';
import { NODE_NEEDED } from '../../../../src/shared/version.js';
import { config, server } from '../../../faults/config.js';
import { toolherd } from '../../../support/command.js';
import { makeFolder } from '../../../support/folder.js';
import { type Home, killDaemon, makeHome } from '../../../support/herd.js';
import { silentSocket } from '../../../support/silent-socket.js';
import { until } from '../../../support/until.js';

interface Finding {
  about: string;
  level: string;
  message: string;
  fix?: string;
}

function inHome(home: Home, env: Record<string, string> = {}, cwd = home.folder) {
  const options = { cwd, env: { ...home.environment, ...env } };
  const run = (...args: string[]) => toolherd(['doctor', ...args], options);
  const findings = async (about: string) => {
    const all = JSON.parse((await run('--json')).stdout).findings as Finding[];
    return all.filter((finding) => finding.about === about);
  };
  return { run, findings };
}

describe('toolherd doctor', () => {
  it('reports no error in a sound setup, and starts no daemon', async () => {
    const home = makeHome(config([server('good', 'good.mjs')]));
    const { run, findings } = inHome(home);
    const { status, stdout } = await run();
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ok {5}node {7}Node v\d+/);
    expect(stdout).not.toMatch(/^error/m);
    expect(await findings('daemon')).toMatchObject([
      { level: 'ok', message: expect.stringContaining('none is running') },
    ]);
    expect(await findings('config')).toMatchObject([
      { level: 'ok', message: expect.stringMatching(/: 1 server$/) },
    ]);
  });

  it('prints commands that can be pasted, whatever the path', async () => {
    const home = makeHome(config([]));
    const project = makeFolder({
      "it's mine/agent.yaml": 'tools: [{name: a, type: mcp, description: d, server: s, command: npx}]\n',
    });
    const { findings } = inHome(home, {}, join(project, "it's mine"));
    expect(await findings('trust')).toMatchObject([
      { fix: `toolherd allow '${project}/it'\\''s mine/agent.yaml'` },
    ]);
    const state = join(project, "it's mine", 'state');
    mkdirSync(state, { mode: 0o777 });
    chmodSync(state, 0o777);
    const open = inHome(home, { TOOLHERD_HOME: join(project, "it's mine") });
    expect(await open.findings('state')).toMatchObject([
      { level: 'error', fix: `chmod 700 '${project}/it'\\''s mine/state'` },
    ]);
  });

  it('gives a fix for each finding that is not ok; an error is exit 1', async () => {
    const home = makeHome('version: "1.0"\nmcp_servers:\n  - {name: a, server: a, command: npxx}\n');
    const { run } = inHome(home, { PATH: '' });
    const { status, stdout } = await run('--json');
    const { ok, errors, findings } = JSON.parse(stdout) as {
      ok: boolean;
      errors: number;
      findings: Finding[];
    };
    expect([status, ok]).toEqual([1, false]);
    expect(errors).toBe(findings.filter(({ level }) => level === 'error').length);
    for (const { level, fix } of findings) expect(fix === undefined).toBe(level === 'ok');
    expect(findings).toContainEqual(expect.objectContaining({ about: 'path', level: 'error' }));
    expect(findings).toContainEqual(
      expect.objectContaining({
        about: 'config',
        message: expect.stringContaining("Invalid command 'npxx'"),
      }),
    );
    const quiet = await run('-q');
    expect(quiet.stdout).not.toMatch(/^ok/m);
    expect(quiet.stdout).toMatch(/^error {2}path {7}.*\n {7}fix: /m);
  });

  it('reports a missing program as an error if a server needs it, else as a warning', async () => {
    const home = makeHome(
      'version: "1.0"\nmcp_servers:\n  - {name: a, description: d, server: a, command: uvx, args: [x]}\n',
    );
    const { findings } = inHome(home, { PATH: home.folder });
    expect(await findings('uvx')).toMatchObject([{ level: 'error' }]);
    expect(await findings('docker')).toMatchObject([{ level: 'warn' }]);
    writeFileSync(join(home.folder, 'uvx'), '', { mode: 0o755 });
    expect(await findings('uvx')).toMatchObject([
      { level: 'ok', message: `uvx is ${join(home.folder, 'uvx')}` },
    ]);
  });

  it('reports modes that let other users reach the socket or write the state', async () => {
    const home = makeHome(config([]));
    mkdirSync(join(home.folder, 'run'));
    chmodSync(join(home.folder, 'run'), 0o755);
    mkdirSync(join(home.folder, 'state'), { recursive: true });
    chmodSync(join(home.folder, 'state'), 0o777);
    const { findings } = inHome(home);
    expect(await findings('socket')).toMatchObject([
      { level: 'error', fix: expect.stringMatching(/^chmod 700/) },
    ]);
    expect(await findings('state')).toMatchObject([
      { level: 'error', fix: expect.stringMatching(/^chmod 700/) },
    ]);
    chmodSync(join(home.folder, 'run'), 0o700);
    chmodSync(join(home.folder, 'state'), 0o700);
    expect(await findings('socket')).toMatchObject([{ level: 'ok' }]);
  });

  it('names an agent file that is not allowed', async () => {
    const project = makeFolder({
      'agent.yaml': 'tools:\n  - {name: a, type: mcp, description: d, server: a, command: npx, args: [x]}\n',
    });
    const { findings } = inHome(makeHome(config([])), {}, project);
    expect(await findings('trust')).toMatchObject([
      { level: 'warn', fix: `toolherd allow ${join(project, 'agent.yaml')}` },
    ]);
  });

  it('reports the daemon, failing servers, and processes that a killed daemon left', async () => {
    const home = makeHome(config([server('dies', 'exits-at-start.mjs'), server('good', 'good.mjs')]));
    const daemon = await home.start();
    const { findings } = inHome(home);
    await toolherd(['start', 'dies', '--wait'], { cwd: home.folder, env: home.environment });
    expect(await findings('daemon')).toMatchObject([
      { level: 'ok', message: expect.stringMatching(/^running \(pid \d+/) },
    ]);
    expect(await findings('server')).toMatchObject([{ level: 'warn', fix: 'see "toolherd logs dies"' }]);
    await killDaemon(home, daemon);
    expect(await findings('daemon')).toMatchObject([{ level: 'ok' }]);

    const cookie = 'doctor-test:1';
    const orphan = spawn('sleep', ['60'], { env: { TOOLHERD_COOKIE: cookie, PATH: process.env.PATH } });
    onTestFinished(() => void orphan.kill('SIGKILL'));
    const line = JSON.stringify({ came: { pid: orphan.pid, name: 'x', cookie, startTime: null } });
    writeFileSync(
      join(home.folder, 'state', 'ledger'),
      `{"ledger":1}\n${line}\n{"came":{"pid":1,"cookie":"no"}}\n{"ha`,
    );
    expect(await findings('processes')).toMatchObject([
      { level: 'warn', message: `servers of a daemon that died still run: ${orphan.pid}` },
    ]);
    // a process that shows no cookie is known by its start time; toolherd does not end such a process
    const bare = spawn('sleep', ['60'], { env: { PATH: process.env.PATH } });
    onTestFinished(() => void bare.kill('SIGKILL'));
    const came = { pid: bare.pid, name: 'x', cookie, startTime: startTimeOf(bare.pid!) };
    const other = { ...came, pid: process.pid };
    writeFileSync(
      join(home.folder, 'state', 'ledger'),
      [{ ledger: 1 }, { came }, { came: other }].map((one) => JSON.stringify(one)).join('\n'),
    );
    expect(await findings('processes')).toMatchObject([
      {
        message: expect.stringContaining('cannot be read'),
        fix: `check what they are, then: kill ${bare.pid}`,
      },
    ]);
    writeFileSync(join(home.folder, 'state', 'ledger'), '');
  });

  it('shows each problem of a changed config in its lines', async () => {
    const home = makeHome(config([]));
    await home.start();
    home.configure('version: "1.0"\nmcp_servers:\n  - {name: a, server: s, command: npx, foo: 1, bar: 2}\n');
    const { run, findings } = inHome(home);
    await until(async () => (await findings('daemon')).some(({ level }) => level === 'error'));
    const { stdout } = await run();
    expect(stdout).not.toContain('\uFFFD');
    expect(stdout).toContain(
      "the changed config was not applied\n       why: error: MCPConfigError: Unknown field 'foo'\n",
    );
    expect(stdout).toMatch(/\n {9}\| error: MCPConfigError: Unknown field 'bar'\n/);
  });

  it('continues after a check that fails, and names no unrelated process to kill', async () => {
    const home = makeHome(config([]));
    const { findings } = inHome(home);
    mkdirSync(join(home.folder, 'state'), { mode: 0o700 });
    writeFileSync(join(home.folder, 'state', 'logs'), '');
    mkdirSync(join(home.folder, 'run'), { mode: 0o700 });
    writeFileSync(join(home.folder, 'run', 'toolherd.sock.lock'), String(process.pid));
    expect(await findings('logs')).toMatchObject([
      { level: 'error', message: expect.stringContaining('ENOTDIR'), fix: expect.stringContaining('folder') },
    ]);
    if (process.platform === 'linux') expect(await findings('lock')).toEqual([]);
  });

  it('gives up on a daemon that does not answer hello, after --timeout', async () => {
    const home = makeHome(config([]));
    await silentSocket(home.socket);
    const { stdout, status } = await inHome(home).run('--timeout', '300ms');
    expect(stdout).toMatch(/^error {2}daemon +the daemon on .* does not answer\n +fix: end it$/m);
    expect(status).toBe(1);
  });

  it('requires the Node version of package.json', () => {
    const { engines } = JSON.parse(
      readFileSync(join(import.meta.dirname, '..', '..', '..', '..', 'package.json'), 'utf8'),
    );
    expect(engines.node).toBe(`>=${NODE_NEEDED}`);
    const levels = ['v20.18.9', 'v20.19.0', 'v18.20.0', 'v22.0.0'].map((version) => checkNode(version).level);
    expect(levels).toEqual(['error', 'ok', 'error', 'ok']);
  });

  describe('of attached clients', () => {
    const attach = async (home: Home, ...args: string[]) => {
      const { status } = await toolherd(['attach', ...args], { cwd: home.folder, env: home.environment });
      expect(status).toBe(0);
    };
    const edit = (home: Home, file: string, from: string, to: string) => {
      const path = join(home.folder, file);
      writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
    };

    it('says nothing where none is attached, and ok for a sound entry', async () => {
      const home = makeHome(config([server('good', 'good.mjs')]));
      const { findings } = inHome(home);
      expect(await findings('client')).toEqual([]);
      await attach(home, 'cursor', '--server', 'good');
      expect(await findings('client')).toMatchObject([
        { level: 'ok', message: expect.stringMatching(/^Cursor: mcpServers.toolherd in /) },
      ]);
    });

    it('finds an entry whose program or script is gone; its fix repairs it', async () => {
      const home = makeHome(config([server('good', 'good.mjs')]));
      const { findings } = inHome(home);
      await attach(home, 'cursor', '--server', 'good');
      for (const gone of [process.execPath, 'main.cjs']) {
        edit(home, '.cursor/mcp.json', gone, `/gone/bin/${gone === 'main.cjs' ? 'main.cjs' : 'node'}`);
        const [finding] = await findings('client');
        expect(finding).toMatchObject({
          level: 'error',
          message: expect.stringMatching(/ starts .*\/gone\/bin\/\S+, which does not exist$/),
          fix: 'toolherd attach cursor --server good',
        });
        await attach(home, 'cursor', '--server', 'good');
        expect(await findings('client')).toMatchObject([{ level: 'ok' }]);
      }
    });

    it('finds an entry that names an unknown server, or an agent file that is gone', async () => {
      const home = makeHome(config([server('good', 'good.mjs')]));
      const { findings } = inHome(home);
      await attach(home, 'codex', '--server', 'bad');
      await attach(home, 'cursor', '--agent', 'none/agent.yaml');
      expect(await findings('client')).toMatchObject([
        { level: 'error', message: expect.stringContaining('none/agent.yaml, which does not exist') },
        { level: 'warn', message: expect.stringContaining("names the server 'bad', which no config has") },
      ]);
    });

    it('warns of a client that lists all tools above the threshold; its fix makes it search', async () => {
      const surface = { mode: 'all', above_tokens: 100 };
      const home = makeHome(config([server('good', 'good.mjs')], { surface }));
      const { findings } = inHome(home);
      await attach(home, 'cursor');
      await home.start();
      await toolherd(['tools', 'good'], { cwd: home.folder, env: home.environment });
      expect(await findings('client')).toMatchObject([
        {
          level: 'warn',
          message: expect.stringMatching(/ lists all tools: about \d+ tokens before each task$/),
          fix: 'toolherd attach cursor --surface auto',
        },
      ]);
      await attach(home, 'cursor', '--surface', 'auto');
      expect(await findings('client')).toMatchObject([{ level: 'ok' }]);
    });

    it('looks at the list of a client with a profile as the profile has it, and finds an unknown profile', async () => {
      const surface = { mode: 'all', above_tokens: 60 };
      const profiles = {
        small: { tools: ['good.echo'] },
        large: { tools: ['good.*'] },
        searched: { tools: ['good.*'], surface: { mode: 'search' } },
      };
      const text = config([server('good', 'good.mjs')], { surface });
      const home = makeHome(`${text}profiles: ${JSON.stringify(profiles)}\n`);
      const { findings } = inHome(home);
      await home.start();
      await toolherd(['tools', 'good'], { cwd: home.folder, env: home.environment });
      const levels = { small: 'ok', large: 'warn', searched: 'ok', lage: 'warn' };
      for (const [profile, level] of Object.entries(levels)) {
        await attach(home, 'cursor', '--profile', profile);
        expect(await findings('client')).toMatchObject([{ level }]);
      }
      expect(await findings('client')).toMatchObject([
        { message: expect.stringContaining("names the profile 'lage', which no config has") },
      ]);
    });

    it('looks into the files of the project too', async () => {
      const home = makeHome(config([server('good', 'good.mjs')]));
      const { findings } = inHome(home);
      await attach(home, 'vscode', '--scope', 'project', '--server', 'bad');
      const [finding] = await findings('client');
      expect(finding).toMatchObject({
        fix: expect.stringContaining('toolherd attach vscode --scope project'),
      });
    });
  });
});
