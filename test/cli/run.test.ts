import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/core/command-names.js';
import { toolherd } from '../support/command.js';
import { makeFolder } from '../support/folder.js';

describe('the command', () => {
  it('toolherd alone lists all commands', async () => {
    const cwd = makeFolder();
    const bare = await toolherd([], { cwd });
    expect(bare.status).toBe(0);
    for (const name of Object.keys(COMMANDS)) expect(bare.stdout).toContain(`\n  ${name} `);
    expect((await toolherd(['--help'], { cwd })).stdout).toBe(bare.stdout);
    expect((await toolherd(['help'], { cwd })).stdout).toBe(bare.stdout);
  });

  it('every command has the same help with an example by help and by --help', async () => {
    const cwd = makeFolder();
    for (const name of Object.keys(COMMANDS).filter((command) => command !== 'help')) {
      const { stdout, status } = await toolherd(['help', name], { cwd });
      expect(stdout).toContain(`Usage: toolherd ${name}`);
      expect(stdout).toContain(`  toolherd ${name}`);
      expect(status).toBe(0);
      expect((await toolherd([name, '--help'], { cwd })).stdout).toBe(stdout);
    }
  });

  it('a misspelt command or option gets a suggestion: exit 2', async () => {
    const cwd = makeFolder();
    expect(await toolherd(['validte'], { cwd })).toEqual({
      status: 2,
      stdout: '',
      stderr:
        "error: UsageError: unknown command 'validte'\n  fix: did you mean 'validate'? See 'toolherd help'\n",
    });
    expect(await toolherd(['validate', '--jsno'], { cwd })).toEqual({
      status: 2,
      stdout: '',
      stderr:
        "error: UsageError: unknown option '--jsno' for 'validate'\n  fix: did you mean '--json'? usage: toolherd validate [FILE…]\n",
    });
    expect((await toolherd(['version', 'extra'], { cwd })).stderr).toContain(
      "too many arguments for 'version'",
    );
    expect((await toolherd(['validate', '--config'], { cwd })).status).toBe(2);
    expect((await toolherd(['constructor'], { cwd })).status).toBe(2);
  });

  it('a bad --timeout is a usage error, before a daemon is started or connected: exit 2', async () => {
    const cwd = makeFolder();
    for (const command of ['status', 'tools', 'up'])
      expect(await toolherd([command, '--timeout', 'abc'], { cwd })).toEqual({
        status: 2,
        stdout: '',
        stderr:
          "error: UsageError: --timeout: 'abc' is not a duration\n  fix: write for example 30s, 500ms or 2m\n",
      });
    expect(existsSync(join(cwd, 'home', 'run'))).toBe(false);
  });

  it("a command's beginning suggests the command: stat is status, not start", async () => {
    expect((await toolherd(['stat'], { cwd: makeFolder() })).stderr).toContain("did you mean 'status'?");
  });

  it('usage errors are JSON with --json, on stdout', async () => {
    const { stdout, stderr, status } = await toolherd(['--json', 'nope'], { cwd: makeFolder() });
    expect(JSON.parse(stdout)).toMatchObject({ api_version: 1, ok: false, error: { type: 'UsageError' } });
    expect(stderr).toBe('');
    expect(status).toBe(2);
  });

  it('flags may stand before the command', async () => {
    const cwd = makeFolder({ 'other.yaml': 'version: "1.0"\n' });
    const { stdout } = await toolherd(['--config', 'other.yaml', '--json', 'validate'], { cwd });
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, files: [{ kind: 'config' }] });
  });

  it.each(['-vq', '-qv'])('%s is the same as -q and -v', async (flags) => {
    const { stderr } = await toolherd(['doctor', flags], { cwd: makeFolder() });
    expect(stderr).toBe('');
  });

  it('version and schema print text for people and JSON for scripts', async () => {
    const cwd = makeFolder();
    expect((await toolherd(['version'], { cwd })).stdout).toMatch(/^toolherd \d+\.\d+\.\d+ \(node v\d+/);
    for (const flag of ['--version', '-V'])
      expect((await toolherd([flag], { cwd })).stdout).toMatch(/^toolherd \d/);
    const ajv = new Ajv2020({ strict: false });
    for (const kind of ['agent', 'config']) {
      const schema = JSON.parse((await toolherd(['schema', kind], { cwd })).stdout);
      expect(ajv.validateSchema(schema)).toBe(true);
    }
    expect(JSON.parse((await toolherd(['schema'], { cwd })).stdout)).toMatchObject({ agent: {}, config: {} });
    expect((await toolherd(['schema', 'agnet'], { cwd })).status).toBe(2);
  });
});
