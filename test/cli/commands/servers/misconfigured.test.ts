import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentFile, shared } from '../../../daemon/views/support.js';
import { config, type Entry, server } from '../../../faults/config.js';
import { toolherd } from '../../../support/command.js';
import { makeFolder } from '../../../support/folder.js';
import { makeHome } from '../../../support/herd.js';

const NAME = 'NO_SUCH_TOKEN';
const NOT_FOUND = `Environment variable '${NAME}' not found`;
const TOKEN = { env: { TOKEN: `\${${NAME}}` } };
const HERD: readonly Entry[] = [server('good', 'good.mjs'), server('tokened', 'good.mjs', TOKEN)];
/** The text of the command if it has the variable and the daemon lacks it. */
const ONLY_HERE = `${NAME} is set in this shell, but not in the environment that the daemon was started with`;
const REPLACE = 'run "toolherd up --replace" in this shell';

/** A home, the command in a shell without the variable, and in one that has it. */
function start(entries = HERD) {
  const home = makeHome(config(entries));
  const shell =
    (env: Record<string, string>, cwd = home.folder) =>
    (...args: string[]) =>
      toolherd(args, { cwd, env: { ...home.environment, ...env } });
  const up = async (run = shell({})) => {
    const outcome = await run('up', '--json');
    home.adopt(JSON.parse(outcome.stdout).pid);
    return outcome;
  };
  return { home, shell, without: shell({}), having: shell({ [NAME]: 'abc' }), up };
}

describe('with a misconfigured server', () => {
  it('up warns and exits with 0, also when the daemon runs already', async () => {
    const { without, home } = start();
    const first = await without('up');
    home.adopt(Number(/pid (\d+)/.exec(first.stdout)?.[1]));
    expect(first).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('2 servers configured'),
      stderr: expect.stringMatching(
        new RegExp(`^warning: tokened: ${NOT_FOUND}, at ${home.configFile}:\\d+:\\d+`),
      ),
    });
    expect(await without('up')).toMatchObject({ status: 0, stderr: expect.stringContaining(NOT_FOUND) });
    expect((await without('call', 'good.echo', 'value=hi')).stdout).toContain('hi');
  });

  it('call, tools, start and reset of that server show its problem with position and fix: exit 78', async () => {
    const { without, home, up } = start();
    await up();
    for (const words of [
      ['call', 'tokened.echo'],
      ['tools', 'tokened'],
      ['start', 'tokened'],
      ['reset', 'tokened'],
    ]) {
      const { status, stderr } = await without(...words);
      expect(stderr).toMatch(
        new RegExp(
          `^error: ConfigError: ${NOT_FOUND}\n {2}at ${home.configFile}:\\d+:\\d+ \\(mcp_servers\\[1\\].env.TOKEN\\)\n {2}fix: `,
        ),
      );
      expect(status).toBe(78);
      expect(stderr.endsWith('\n  sent: no, the tool did not run\n')).toBe(words[0] === 'call');
    }
    const { error } = JSON.parse((await without('call', 'tokened.echo', '--json')).stdout);
    expect(error).toMatchObject({ type: 'ConfigError', sent: false });
  });

  it('status, tools, why, reload and doctor report it; status --exit-code is 1', async () => {
    const { without, home, up } = start();
    await up();
    const shown = await without('status', '--exit-code');
    expect(shown.status).toBe(1);
    expect(shown.stdout).toMatch(/^tokened +error +misconfigured /m);
    expect(shown.stdout).toContain(`tokened: ${NOT_FOUND}, at ${home.configFile}:`);
    expect((await without('tools')).stderr).toContain(NOT_FOUND);
    const { stdout: story } = await without('why', 'tokened');
    expect(story).toMatch(/^tokened does not run: its entry in the config cannot be resolved/);
    expect(story).toMatch(new RegExp(`What happened:\n.*${NOT_FOUND}`));
    expect(story).toMatch(new RegExp(`What you can do: .*${NAME}`));
    expect(await without('reload')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('unchanged: good, tokened'),
      stderr: expect.stringContaining(`warning: tokened: ${NOT_FOUND}`),
    });
    const { stdout: checked } = await without('doctor');
    expect(checked).toMatch(new RegExp(`^error +config +${home.configFile}:\\d+: ${NOT_FOUND}`, 'm'));
    expect(checked.split(NOT_FOUND)).toHaveLength(2);
  });

  it('bridge serves the tools of the other servers', async () => {
    const { home, without } = start();
    const say = (id: number, method: string, params: object) =>
      `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
    const hello = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    };
    const input = say(1, 'initialize', hello) + say(2, 'tools/list', {});
    const { status, stdout } = await toolherd(['bridge'], { cwd: home.folder, env: home.environment, input });
    home.adopt(JSON.parse((await without('status', '--json')).stdout).daemon.pid);
    expect(status).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    const { result } = lines.map((line) => JSON.parse(line)).find(({ id }) => id === 2);
    expect(result.tools.map(({ name }: { name: string }) => name)).toContain('good__echo');
  });

  it('validate fails: exit 78', async () => {
    const { without } = start();
    expect(await without('validate')).toMatchObject({
      status: 78,
      stderr: expect.stringContaining(NOT_FOUND),
    });
  });
});

describe('with a variable that the command has and the daemon lacks', () => {
  it('every command that reports it says so, with a fix', async () => {
    const { having, without, up } = start();
    await up();
    for (const words of [
      ['call', 'tokened.echo'],
      ['tools'],
      ['tools', 'tokened'],
      ['start', 'tokened'],
      ['reload'],
      ['up'],
      ['status'],
      ['why', 'tokened'],
      ['doctor'],
    ]) {
      const { stdout, stderr } = await having(...words);
      expect({ words, said: stdout + stderr }).toMatchObject({ said: expect.stringContaining(ONLY_HERE) });
      expect({ words, said: stdout + stderr }).toMatchObject({ said: expect.stringContaining(REPLACE) });
      const other = await without(...words);
      expect(other.stdout + other.stderr).not.toContain(ONLY_HERE);
    }
    const error = JSON.parse((await having('call', 'tokened.echo', '--json')).stdout).error;
    expect(error.problems).toMatchObject([
      { variable: NAME, why: expect.stringContaining(ONLY_HERE), fix: expect.stringContaining(REPLACE) },
    ]);
  });

  it('up --replace in that shell solves it', async () => {
    const { home, having, up } = start();
    await up();
    const { stdout, stderr } = await having('up', '--replace');
    home.adopt(Number(/pid (\d+)/.exec(stdout)?.[1]));
    expect(stderr).toBe('');
    expect((await having('call', 'tokened.env')).stdout).toContain('"TOKEN":"abc"');
  });

  it('validate says that the daemon lacks it', async () => {
    const { having, up } = start();
    expect((await having('validate')).stdout).toContain(`\${${NAME}} is set (environment)\n`);
    await up();
    const { status, stdout } = await having('validate');
    expect(stdout).toContain(
      `\${${NAME}} is set (environment), but not in the environment that the daemon was started with; ${REPLACE}`,
    );
    expect(status).toBe(0);
  });

  it("call and status say so for an agent.yaml, and status does not mention 'allow'", async () => {
    const { shell, up } = start([server('good', 'good.mjs')]);
    const project = makeFolder({ 'agent.yaml': agentFile([shared('tokened', 'good.mjs', TOKEN)]) });
    const having = shell({ [NAME]: 'abc' }, project);
    await up();
    expect(await having('allow', '--yes')).toMatchObject({ status: 0 });
    const called = await having('call', 'tokened.echo');
    expect(called).toMatchObject({ status: 78, stderr: expect.stringContaining(ONLY_HERE) });
    const shown = await having('status');
    expect(shown).toMatchObject({ status: 0, stderr: expect.stringContaining(ONLY_HERE) });
    expect(shown.stderr).toMatch(/^warning: ConfigError: /);
    expect(shown.stderr).toContain(`\nwarning: left out: ${join(project, 'agent.yaml')}\n`);
    expect(shown.stderr).not.toContain('toolherd allow');
    expect(shown.stdout).toContain('good');
  });
});
