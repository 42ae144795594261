import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLIENTS } from '../../src/integrations/index.js';
import { COMMAND, type Outcome, toolherd } from '../support/command.js';
import { makeFolder } from '../support/folder.js';
import { OWN_FILES } from './own-files.js';

const title = (name: string) => CLIENTS.find((client) => client.name === name)?.title;

/** A home with files, in which the command runs. `$` stands for its path in the output. */
function begin(files: Record<string, string> = {}) {
  const home = makeFolder(files);
  const run = async (...args: string[]): Promise<Outcome> => {
    const { status, stdout, stderr } = await toolherd(args, {
      cwd: home,
      env: { TOOLHERD_HOME: '', PATH: '' },
    });
    const withoutHome = (text: string) =>
      text.replaceAll(home, '$').replaceAll(process.execPath, 'NODE').replaceAll(COMMAND, 'MAIN');
    return { status, stdout: withoutHome(stdout), stderr: withoutHome(stderr) };
  };
  const read = (file: string) => readFileSync(join(home, file), 'utf8');
  return { home, run, read };
}

const MINE =
  '{\n  // mine\n  "mcpServers": {\n    "a": { "command": "x", "env": { "TOKEN": "s3cret" } }, // last\n  },\n}\n';

describe('toolherd attach', () => {
  it('writes one entry, keeps a backup and prints the next step; detach restores the file byte for byte', async () => {
    const { run, read, home } = begin({ '.cursor/mcp.json': MINE });
    expect(await run('attach', 'cursor')).toEqual({
      status: 0,
      stdout: 'attached: Cursor ($/.cursor/mcp.json)\n',
      stderr:
        'backup: $/.cursor/mcp.json.before-toolherd\n' +
        'next: restart Cursor\nundo with: toolherd detach cursor\n',
    });
    const attached = read('.cursor/mcp.json');
    expect(attached).toContain('// mine\n');
    expect(attached).toContain('// last\n    "toolherd": {\n');
    expect(read('.cursor/mcp.json.before-toolherd')).toBe(MINE);
    expect(await run('attach', 'cursor')).toEqual({
      status: 0,
      stdout: 'already attached: Cursor ($/.cursor/mcp.json)\n',
      stderr: '',
    });
    expect(read('.cursor/mcp.json')).toBe(attached);
    expect(await run('detach', 'cursor')).toEqual({
      status: 0,
      stdout: 'detached: Cursor ($/.cursor/mcp.json)\n',
      stderr: '',
    });
    expect(read('.cursor/mcp.json')).toBe(MINE);
    expect(existsSync(join(home, '.cursor/mcp.json.before-toolherd'))).toBe(false);
    expect((await run('detach', 'cursor')).stdout).toBe('not attached: Cursor ($/.cursor/mcp.json)\n');
  });

  it('detach keeps changes that were made since attach', async () => {
    const { run, read, home } = begin({ '.codex/config.toml': 'model = "x"\n' });
    await run('attach', 'codex');
    writeFileSync(join(home, '.codex/config.toml'), `# new\n${read('.codex/config.toml')}`);
    expect((await run('detach', 'codex')).status).toBe(0);
    expect(read('.codex/config.toml')).toBe('# new\nmodel = "x"\n');
  });

  it('a missing file is created private, and detach deletes it', async () => {
    const { run, home } = begin();
    expect((await run('attach', 'gemini')).status).toBe(0);
    const file = join(home, '.gemini/settings.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await run('detach', 'gemini')).toMatchObject({
      status: 0,
      stderr: 'deleted: $/.gemini/settings.json\n',
    });
    expect(existsSync(file)).toBe(false);
  });

  it.each([
    ['cursor', '.cursor/mcp.json', ''],
    ['cursor', '.cursor/mcp.json', '{}\n'],
    ['cursor', '.cursor/mcp.json', '{\n  "mcpServers": {}\n}\n'],
    ['codex', '.codex/config.toml', ''],
  ])('detach keeps a file that existed before, even an empty one: %s %s %j', async (client, file, text) => {
    const { run, read, home } = begin({ [file]: text });
    await run('attach', client);
    expect(await run('detach', client)).toMatchObject({ status: 0 });
    expect(read(file)).toBe(text);
    expect(existsSync(join(home, `${file}.before-toolherd`))).toBe(false);
  });

  it('an entry of the same name that is not ours: attach reports that it was replaced, detach restores it', async () => {
    const mine = '{\n  "mcpServers": {\n    "toolherd": { "command": "mine" } // by hand\n  }\n}\n';
    const { run, read } = begin({ '.cursor/mcp.json': mine });
    expect((await run('detach', 'cursor')).stdout).toBe('not attached: Cursor ($/.cursor/mcp.json)\n');
    expect(read('.cursor/mcp.json')).toBe(mine);
    expect((await run('attach', 'cursor')).stderr).toContain('replaced the existing entry of that name');
    await run('detach', 'cursor');
    expect(read('.cursor/mcp.json')).toBe(mine);
  });

  it('a second attach with other arguments keeps the first backup', async () => {
    const { run, read } = begin({ '.cursor/mcp.json': MINE });
    await run('attach', 'cursor');
    await run('attach', 'cursor', '--server', 'github');
    expect(read('.cursor/mcp.json.before-toolherd')).toBe(MINE);
    await run('detach', 'cursor');
    expect(read('.cursor/mcp.json')).toBe(MINE);
  });

  it('the backup has the mode of the file, and a link stays a link', async () => {
    const { run, home } = begin({ 'dotfiles/mcp.json': MINE, '.cursor/x': '' });
    chmodSync(join(home, 'dotfiles/mcp.json'), 0o600);
    symlinkSync('../dotfiles/mcp.json', join(home, '.cursor/mcp.json'));
    expect((await run('attach', 'cursor')).status).toBe(0);
    expect(lstatSync(join(home, '.cursor/mcp.json')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(home, 'dotfiles/mcp.json'), 'utf8')).toContain('"toolherd"');
    expect(statSync(join(home, '.cursor/mcp.json.before-toolherd')).mode & 0o777).toBe(0o600);
  });

  it.each(CLIENTS.filter(({ toClientEntry }) => toClientEntry !== undefined).map(({ name }) => name))(
    'works for every client, and so does detach: %s',
    async (name) => {
      const { run } = begin();
      const { file, entry, change } = JSON.parse((await run('attach', name, '--json')).stdout);
      expect(change).toBe('created');
      expect(JSON.stringify(entry)).toContain('"NODE"');
      expect(JSON.stringify(entry)).toContain('"MAIN","bridge"');
      const again = JSON.parse((await run('attach', name, '--json')).stdout);
      expect(again).toMatchObject({ file, change: 'unchanged' });
      expect(JSON.parse((await run('detach', name, '--json')).stdout)).toEqual({
        api_version: 1,
        ok: true,
        client: name,
        scope: 'user',
        file,
        change: 'deleted',
        backup: null,
        dry_run: false,
      });
    },
  );

  it.each(Object.entries(OWN_FILES))(
    'detach restores a file that the client wrote byte for byte, with and without a backup: %s',
    async (name, [file, text]) => {
      const { run, read, home } = begin({ [file]: text });
      expect((await run('attach', name)).stdout).toBe(`attached: ${title(name)} ($/${file})\n`);
      const attached = read(file);
      expect(attached).toContain('toolherd');
      await run('detach', name);
      expect(read(file)).toBe(text);
      // without the backup only the entry is cut out
      writeFileSync(join(home, file), attached);
      await run('detach', name);
      expect(read(file)).toBe(text);
    },
  );

  it.each([
    ['opencode', '.config/opencode/opencode.json', '{\n  "$schema": "https://opencode.ai/config.json",\n'],
    ['kilo', '.config/kilo/kilo.jsonc', '{\n  "$schema": "https://app.kilo.ai/config.json",\n'],
    ['continue', '.continue/config.yaml', 'name: Local Config\nversion: 1.0.0\nschema: v1\nmcpServers:\n'],
  ])(
    'a new file begins with what the client needs there, and detach deletes it: %s',
    async (name, file, start) => {
      const { run, read, home } = begin();
      await run('attach', name);
      expect(read(file).startsWith(start)).toBe(true);
      expect((await run('detach', name)).stderr).toBe(`deleted: $/${file}\n`);
      expect(existsSync(join(home, file))).toBe(false);
    },
  );

  it('grok gets a separator that it accepts, unless another one or a single server is asked for', async () => {
    const { run } = begin();
    const args = async (...words: string[]) =>
      JSON.parse((await run('attach', 'grok', '--dry-run', '--json', ...words)).stdout).entry.args;
    expect(await args()).toEqual(['MAIN', 'bridge', '--separator', '_']);
    expect(await args('--separator', '-')).toEqual(['MAIN', 'bridge', '--separator', '-']);
    expect(await args('--server', 'github')).toEqual(['MAIN', 'bridge', '--server', 'github']);
    const searching = ['MAIN', 'bridge', '--separator', '_', '--surface', 'search'];
    expect(await args('--surface', 'search')).toEqual(searching);
  });

  it('names what the client still asks for, and the command that undoes it', async () => {
    const { run } = begin();
    expect((await run('attach', 'codex', '--scope', 'project')).stderr).toBe(
      'next: start codex in this folder and trust it: Codex ignores the file of an untrusted project\n' +
        'undo with: toolherd detach codex --scope project\n',
    );
    expect((await run('attach', 'claude-code', '--scope', 'project')).stderr).toContain('approve the server');
    expect((await run('attach', 'gemini')).stderr).toContain('in a trusted folder');
  });

  it('Cline: no folder of a VS Code that is not there is made', async () => {
    const { run, home } = begin();
    expect((await run('attach', 'cline')).stdout).toBe(
      'attached: Cline ($/.cline/data/settings/cline_mcp_settings.json)\n',
    );
    expect(existsSync(join(home, '.config'))).toBe(false);
  });

  it('a program that is installed is attached before another with the same config', async () => {
    const { run } = begin({ '.config/VSCodium/User/settings.json': '{}' });
    expect((await run('attach', 'vscode')).stdout).toBe(
      'attached: VS Code ($/.config/VSCodium/User/mcp.json)\n',
    );
  });

  it.each([
    ['gemini', 'GEMINI_CLI_HOME', '.gemini/settings.json'],
    ['qwen', 'QWEN_HOME', 'settings.json'],
    ['copilot', 'COPILOT_HOME', 'mcp-config.json'],
    ['grok', 'GROK_HOME', 'config.toml'],
    ['cline', 'CLINE_DIR', 'data/settings/cline_mcp_settings.json'],
    ['cline', 'CLINE_DATA_DIR', 'settings/cline_mcp_settings.json'],
    ['continue', 'CONTINUE_GLOBAL_DIR', 'config.yaml'],
    ['droid', 'FACTORY_HOME_OVERRIDE', '.factory/mcp.json'],
    ['goose', 'GOOSE_PATH_ROOT', 'config/config.yaml'],
    ['amp', 'XDG_CONFIG_HOME', 'amp/settings.json'],
  ])('follows the variable that moves the files of a client: %s %s', async (name, variable, file) => {
    const { home } = begin();
    const env = { TOOLHERD_HOME: '', PATH: '', [variable]: join(home, 'elsewhere') };
    const { stdout } = await toolherd(['attach', name, '--json'], { cwd: home, env });
    expect(JSON.parse(stdout).file).toBe(join(home, 'elsewhere', file));
  });

  it('--dry-run shows the entry and nothing else of the file, and writes nothing', async () => {
    const { run, read } = begin({ '.cursor/mcp.json': MINE });
    expect(await run('attach', 'cursor', '--dry-run')).toEqual({
      status: 0,
      stdout: `would write to $/.cursor/mcp.json:
{
  "mcpServers": {
    "toolherd": {
      "command": "NODE",
      "args": [
        "MAIN",
        "bridge"
      ]
    }
  }
}
`,
      stderr: '',
    });
    expect((await run('attach', 'codex', '--dry-run')).stdout).toBe(
      'would write to $/.codex/config.toml:\n[mcp_servers.toolherd]\ncommand = "NODE"\nargs = [ "MAIN", "bridge" ]\n',
    );
    expect(read('.cursor/mcp.json')).toBe(MINE);
  });

  it('a project file holds no paths of this machine', async () => {
    const { run, read } = begin();
    expect(JSON.parse((await run('attach', 'vscode', '--scope', 'project', '--json')).stdout)).toEqual({
      api_version: 1,
      ok: true,
      client: 'vscode',
      scope: 'project',
      file: '$/.vscode/mcp.json',
      change: 'created',
      backup: null,
      dry_run: false,
      entry: { type: 'stdio', command: 'toolherd', args: ['bridge'] },
    });
    expect(JSON.parse(read('.vscode/mcp.json'))).toEqual({
      servers: { toolherd: { type: 'stdio', command: 'toolherd', args: ['bridge'] } },
    });
  });

  it('the entry selects the same herd: its home, its view, one of its servers', async () => {
    const { home } = begin();
    const args = ['attach', 'opencode', '--agent', 'agent.yaml', '--server', 'github', '--json'];
    const { stdout } = await toolherd(args, { cwd: home, env: { PATH: '' } });
    expect(JSON.parse(stdout).entry).toEqual({
      type: 'local',
      command: [
        process.execPath,
        COMMAND,
        'bridge',
        '--agent',
        join(home, 'agent.yaml'),
        '--server',
        'github',
      ],
      enabled: true,
      environment: { TOOLHERD_HOME: join(home, 'home') },
    });
  });

  it('paths of links on PATH are written, not their targets: they survive an update', async () => {
    const { home } = begin({ 'bin/x': '' });
    symlinkSync(process.execPath, join(home, 'bin', 'node'));
    symlinkSync(COMMAND, join(home, 'bin', 'toolherd'));
    const options = { cwd: home, env: { PATH: join(home, 'bin'), TOOLHERD_HOME: '' } };
    const { stdout } = await toolherd(['attach', 'cursor', '--json'], options);
    expect(JSON.parse(stdout).entry).toEqual({
      command: join(home, 'bin', 'node'),
      args: [join(home, 'bin', 'toolherd'), 'bridge'],
    });
  });

  it('an unknown or ambiguous client is a usage error that lists the choices: exit 2', async () => {
    const { run } = begin();
    expect(await run('attach', 'curser')).toEqual({
      status: 2,
      stdout: '',
      stderr: "error: UsageError: unknown client 'curser'\n  fix: did you mean 'cursor'?\n",
    });
    expect((await run('detach', 'claude')).stderr).toBe(
      "error: UsageError: 'claude' is Claude Desktop or Claude Code\n  fix: toolherd detach claude-desktop, or toolherd detach claude-code\n",
    );
    expect(await run('attach')).toMatchObject({ status: 2 });
    expect(await run('attach', 'windsurf', '--scope', 'project')).toMatchObject({ status: 2 });
    expect(await run('attach', 'cursor', '--scope', 'world')).toMatchObject({ status: 2 });
    expect(await run('attach', 'holodeck')).toMatchObject({ status: 1 });
  });

  it.each([
    ['codex', 'project', 'start codex in this folder and trust it'],
    ['claude-code', 'project', 'start claude in this folder and approve the server toolherd'],
    ['gemini', 'project', 'start gemini in this folder and trust it'],
    ['gemini', 'user', 'start a new session of Gemini CLI in a trusted folder'],
  ])('says what the client still asks for, and how to undo it: %s, %s', async (client, scope, asked) => {
    const { run } = begin();
    const { stderr } = await run('attach', client, '--scope', scope);
    expect(stderr).toContain(`next: ${asked}`);
    const undo = /undo with: toolherd (.+)\n/.exec(stderr)?.[1] ?? '';
    expect((await run(...undo.split(' '))).stdout).toContain('detached: ');
  });

  it('warns of a server that no config has, with the nearest name, and writes the entry', async () => {
    const { run } = begin({
      '.config/toolherd/config.yaml':
        'mcp_servers: [{name: github, description: d, server: s, command: npx, args: ["${UNSET}"]}]\n',
    });
    const { status, stderr } = await run('attach', 'cursor', '--server', 'githb');
    expect(status).toBe(0);
    expect(stderr).toContain("warning: no server is called 'githb'");
    expect(stderr).toContain("did you mean 'github'?");
    expect((await run('attach', 'cursor', '--server', 'github')).stderr).not.toContain('warning');
  });

  it('warns of paths in the cache of npx, which npm may delete', async () => {
    const { home } = begin({ '.npm/_npx/0a1b/node_modules/.bin/x': '' });
    const folder = join(home, '.npm/_npx/0a1b/node_modules/.bin');
    symlinkSync(COMMAND, join(folder, 'toolherd'));
    const options = { cwd: home, env: { PATH: folder } };
    const { stderr } = await toolherd(['attach', 'cursor'], options);
    expect(stderr).toContain(`warning: ${folder}/toolherd is in the cache of npx, which npm may delete`);
    expect((await toolherd(['attach', 'cursor', '--scope', 'project'], options)).stderr).not.toContain('npx');
    const service = await toolherd(['service', 'install', '--dry-run'], options);
    expect(service.stderr).toContain('is in the cache of npx, which npm may delete');
  });

  it('follows the variable that gives Gemini CLI another home', async () => {
    const { home } = begin();
    const env = { GEMINI_CLI_HOME: join(home, 'other') };
    const { stdout } = await toolherd(['attach', 'gemini', '--json'], { cwd: home, env });
    expect(JSON.parse(stdout).file).toBe(join(home, 'other/.gemini/settings.json'));
  });

  it.each([
    ['cursor', '.cursor/mcp.json', '{"mcpServers": {', 'it is not valid JSON'],
    ['cursor', '.cursor/mcp.json', '{"mcpServers": []}', "'mcpServers' is written in a form"],
    ['codex', '.codex/config.toml', 'x = [', 'it is not valid TOML'],
    [
      'codex',
      '.codex/config.toml',
      'mcp_servers = { a = { command = "x" } }\n',
      "'mcp_servers' is written in a form",
    ],
  ])('a file that cannot be edited stays unchanged: %s %s %s', async (client, file, text, why) => {
    const { run, read, home } = begin({ [file]: text });
    const { status, stderr } = await run('attach', client);
    expect(status).toBe(1);
    expect(stderr).toContain(why);
    expect(stderr).toContain('  fix: ');
    expect(read(file)).toBe(text);
    expect(existsSync(join(home, `${file}.before-toolherd`))).toBe(false);
  });

  it.each([
    ['cursor', '.cursor/mcp.json', '{"mcpServers": null, "a": 1}\n'],
    ['cursor', '.cursor/mcp.json', '{\n  "mcpServers": null\n}\n'],
    ['goose', '.config/goose/config.yaml', 'extensions:\nmodel: x\n'],
    ['continue', '.continue/config.yaml', 'name: x\nmcpServers:\n'],
  ])('takes a key without a value for an empty map: %s, %s, %j', async (name, file, text) => {
    const { run, read } = begin({ [file]: text });
    expect(await run('attach', name)).toMatchObject({ status: 0 });
    expect(read(file)).toContain('bridge');
    expect(await run('detach', name)).toMatchObject({ status: 0 });
    expect(read(file)).toBe(text);
  });

  it('says of a file that is no map that it is none', async () => {
    const { run, read } = begin({ '.cursor/mcp.json': '[1]\n' });
    const { status, stderr } = await run('attach', 'cursor');
    expect(status).toBe(1);
    expect(stderr).toContain('why: its content is no map of keys and values. Nothing was written.\n');
    expect(read('.cursor/mcp.json')).toBe('[1]\n');
  });

  it('warns of a config and of an agent file that do not exist, and writes the entry', async () => {
    const { run, read } = begin();
    const { status, stderr } = await run('attach', 'cursor', '--config', 'nope.yaml', '--agent', 'no.yaml');
    expect(status).toBe(0);
    expect(stderr).toContain('warning: --config $/nope.yaml does not exist, so the client gets no tools');
    expect(stderr).toContain('warning: --agent $/no.yaml does not exist, so the client gets no tools');
    expect(read('.cursor/mcp.json')).toContain('nope.yaml');
  });
});
