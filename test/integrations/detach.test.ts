import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolherd } from '../support/command.js';
import { makeFolder } from '../support/folder.js';

/** A home in which the command runs. `files`: every file and folder in it, without those of toolherd. */
function begin(given: Record<string, string> = {}) {
  const home = makeFolder(given);
  const run = async (...args: string[]) => {
    const outcome = await toolherd(args, { cwd: home, env: { PATH: '' } });
    expect(outcome.status).toBe(0);
    return outcome;
  };
  const files = () =>
    readdirSync(home, { recursive: true, encoding: 'utf8' })
      .filter((name) => !/^home(\/|$)/.test(name))
      .sort();
  const edit = (file: string, change: (text: string) => string) =>
    writeFileSync(join(home, file), change(readFileSync(join(home, file), 'utf8')));
  return { home, run, files, edit };
}

describe('toolherd detach leaves nothing behind', () => {
  it('removes the backup also when the client changed its file meanwhile', async () => {
    const { run, files, edit } = begin({ '.cursor/mcp.json': '{"mcpServers": {"a": {"command": "x"}}}\n' });
    await run('attach', 'cursor');
    edit('.cursor/mcp.json', (text) => text.replace('{', '{"theme": "dark", '));
    await run('detach', 'cursor');
    expect(files()).toEqual(['.cursor', '.cursor/mcp.json']);
  });

  it('removes the backup also when the client has already dropped the entry', async () => {
    const { run, files, edit } = begin({ '.cursor/mcp.json': '{"mcpServers": {"a": {"command": "x"}}}\n' });
    await run('attach', 'cursor');
    edit('.cursor/mcp.json', () => '{"mcpServers": {}}\n');
    const { stdout } = await run('detach', 'cursor');
    expect(stdout).toContain('not attached');
    expect(files()).toEqual(['.cursor', '.cursor/mcp.json']);
  });

  it('a second attach makes no backup of a file that the first one made', async () => {
    const { run, files } = begin();
    await run('attach', 'cursor');
    await run('attach', 'cursor', '--separator', '_');
    expect(files()).toEqual(['.cursor', '.cursor/mcp.json']);
    await run('detach', 'cursor');
    expect(files()).toEqual([]);
  });

  it('removes the folders that attach made, and no other', async () => {
    const { run, files, home } = begin();
    mkdirSync(join(home, '.config'));
    await run('attach', 'vscode');
    await run('attach', 'codex');
    await run('detach', 'vscode');
    await run('detach', 'codex');
    expect(files()).toEqual(['.config']);
  });

  it('a folder that two clients share goes with the last of them', async () => {
    const { run, files } = begin();
    await run('attach', 'vscode');
    await run('attach', 'opencode');
    await run('detach', 'vscode');
    expect(files()).toEqual(['.config', '.config/opencode', '.config/opencode/opencode.json']);
    await run('detach', 'opencode');
    expect(files()).toEqual([]);
  });

  it('a folder in which the client keeps other files stays', async () => {
    const { run, files, home } = begin();
    await run('attach', 'codex');
    writeFileSync(join(home, '.codex/history'), 'x');
    await run('detach', 'codex');
    expect(files()).toEqual(['.codex', '.codex/history']);
  });

  it('deletes a file that attach made although the client added its $schema', async () => {
    const { run, files, edit } = begin();
    await run('attach', 'opencode');
    edit('.config/opencode/opencode.json', (text) => {
      return `${JSON.stringify({ $schema: 'https://opencode.ai/config.json', ...JSON.parse(text) })}\n`;
    });
    await run('detach', 'opencode');
    expect(files()).toEqual([]);
  });

  it('keeps a file that attach made once it has settings of the client', async () => {
    const { run, edit, home } = begin();
    await run('attach', 'opencode');
    const file = '.config/opencode/opencode.json';
    edit(file, (text) => JSON.stringify({ theme: 'x', ...JSON.parse(text) }));
    await run('detach', 'opencode');
    expect(JSON.parse(readFileSync(join(home, file), 'utf8'))).toMatchObject({ theme: 'x', mcp: {} });
  });

  it('a damaged record of what attach made costs the empty folders only', async () => {
    const { run, files, home } = begin();
    await run('attach', 'codex');
    writeFileSync(join(home, 'home/state/attached.json'), '{"version": 1, "fil');
    await run('detach', 'codex');
    expect(files()).toEqual(['.codex']);
  });

  it('the record does not outlive the last attached client', async () => {
    const { run, home } = begin();
    await run('attach', 'codex');
    expect(existsSync(join(home, 'home/state/attached.json'))).toBe(true);
    await run('detach', 'codex');
    expect(existsSync(join(home, 'home/state/attached.json'))).toBe(false);
  });

  it('--dry-run removes nothing', async () => {
    const { run, files } = begin({ '.cursor/mcp.json': '{}\n' });
    await run('attach', 'cursor');
    const before = files();
    await run('detach', 'cursor', '--dry-run');
    expect(files()).toEqual(before);
  });
});

describe('toolherd detach keeps what attach replaced', () => {
  const OWN = { command: 'docker', args: ['run', 'mine'] };

  it('restores the entry that attach replaced although the client changed another key', async () => {
    const { run, files, edit, home } = begin({
      '.cursor/mcp.json': JSON.stringify({ mcpServers: { toolherd: OWN } }),
    });
    await run('attach', 'cursor');
    edit('.cursor/mcp.json', (text) => text.replace('{', '{"theme": "dark", '));
    await run('detach', 'cursor');
    const text = readFileSync(join(home, '.cursor/mcp.json'), 'utf8');
    expect(JSON.parse(text)).toEqual({ theme: 'dark', mcpServers: { toolherd: OWN } });
    expect(files()).toEqual(['.cursor', '.cursor/mcp.json']);
  });

  it('restores the replaced entry in TOML and YAML too', async () => {
    const { run, edit, home } = begin({
      '.codex/config.toml': '[mcp_servers.toolherd]\ncommand = "docker"\n',
      '.config/goose/config.yaml': 'extensions:\n  toolherd:\n    cmd: docker\n',
    });
    await run('attach', 'codex');
    await run('attach', 'goose');
    edit('.codex/config.toml', (text) => `model = "x"\n${text}`);
    edit('.config/goose/config.yaml', (text) => `model: x\n${text}`);
    await run('detach', 'codex');
    await run('detach', 'goose');
    expect(readFileSync(join(home, '.codex/config.toml'), 'utf8')).toBe(
      'model = "x"\n\n[mcp_servers.toolherd]\ncommand = "docker"\n',
    );
    expect(readFileSync(join(home, '.config/goose/config.yaml'), 'utf8')).toBe(
      'model: x\nextensions:\n  toolherd:\n    cmd: docker\n',
    );
  });

  it.each([
    ['empty', (file: string) => writeFileSync(file, '')],
    ['missing', (file: string) => rmSync(file)],
  ])('keeps the backup and names it when the file of the client is %s', async (_, lose) => {
    const text = '{"mcpServers": {"a": {"command": "x"}}}\n';
    const { run, home } = begin({ '.cursor/mcp.json': text });
    const [file, backup] = ['.cursor/mcp.json', '.cursor/mcp.json.before-toolherd'].map((one) =>
      join(home, one),
    ) as [string, string];
    await run('attach', 'cursor');
    lose(file);
    const { stdout, stderr } = await run('detach', 'cursor');
    expect(stdout).toContain('not attached');
    expect(stderr).toContain(backup);
    expect(readFileSync(backup, 'utf8')).toBe(text);
    await run('attach', 'cursor');
    await run('detach', 'cursor');
    expect(readFileSync(backup, 'utf8')).toBe(text);
  });

  it('keeps the backup when the client dropped our entry and the backup has the one that attach replaced', async () => {
    const { run, files, edit } = begin({
      '.cursor/mcp.json': JSON.stringify({ mcpServers: { toolherd: OWN } }),
    });
    await run('attach', 'cursor');
    edit('.cursor/mcp.json', () => '{"mcpServers": {}}\n');
    await run('detach', 'cursor');
    expect(files()).toContain('.cursor/mcp.json.before-toolherd');
  });
});
