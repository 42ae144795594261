import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { config, fixturePath } from '../../../faults/config.js';
import { COMMAND, type Outcome, toolherd } from '../../../support/command.js';
import { makeFolder } from '../../../support/folder.js';
import { startHerd } from '../../../support/herd.js';

const json = (value: unknown) => JSON.stringify(value);

function begin(files: Record<string, string>, env: Record<string, string> = {}) {
  const home = makeFolder(files);
  const run = async (...args: string[]): Promise<Outcome> => {
    const outcome = await toolherd(['import', ...args], { cwd: home, env });
    const told = (text: string) => text.replaceAll(home, '$');
    return { ...outcome, stdout: told(outcome.stdout), stderr: told(outcome.stderr) };
  };
  const file = join(home, 'home', 'config.yaml');
  return { home, run, file, written: () => readFileSync(file, 'utf8') };
}

const CURSOR = json({
  mcpServers: {
    github: {
      command: 'npx',
      args: ['-y', '@x/github'],
      env: { GITHUB_TOKEN: 'ghp_thesecretvalue', HOST: '${env:GH_HOST}' },
      envFile: '.env',
      color: 'red',
    },
    docs: { url: 'https://docs.example/mcp' },
  },
});
const CODEX = '[mcp_servers.github]\ncommand = "npx"\nargs = ["-y", "@y/github"]\n';
const FILES = {
  '.cursor/mcp.json': CURSOR,
  '.codex/config.toml': CODEX,
  '.gemini/settings.json': '{"mcpServers": ',
};

const TABLE = `FROM    NAME    TRANSPORT  RESULT   RUNS
cursor  github  stdio      new      npx -y @x/github
cursor  docs    http       new      https://docs.example/mcp
codex   github  stdio      skipped  npx -y @y/github
`;
const REMARKS = `warning: Gemini CLI: $/.gemini/settings.json cannot be read: it is not valid JSON; correct it at $/.gemini/settings.json:1:16
  cursor github: toolherd has no equivalent for the field color of Cursor
  cursor github: set GITHUB_TOKEN (its value is in $/.cursor/mcp.json, mcpServers.github, env.GITHUB_TOKEN)
  cursor github: set GH_HOST
  cursor github: disabled until then; when the variables are set: toolherd enable github -g
  codex github: skipped: the name is that of a server of cursor; take it with: toolherd import github --from codex --name OTHER
`;

describe('toolherd import', () => {
  it('--dry-run shows servers and problems, and writes nothing', async () => {
    const { run, file } = begin(FILES);
    expect(await run('--dry-run')).toEqual({ status: 1, stdout: TABLE, stderr: REMARKS });
    expect(existsSync(file)).toBe(false);
  });

  it('writes the servers with variables, without secrets; a server that lacks a variable is disabled', async () => {
    const { home, run, written } = begin(FILES);
    expect(await run('--yes')).toEqual({
      status: 1,
      stdout: `${TABLE}imported: 2 servers to $/home/config.yaml\n`,
      stderr: REMARKS,
    });
    expect(written()).toBe(`version: "1.0"
mcp_servers:
  - name: github
    description: imported from Cursor
    server: "@x/github"
    command: npx
    args:
      - -y
      - "@x/github"
    env:
      GITHUB_TOKEN: \${GITHUB_TOKEN}
      HOST: \${GH_HOST}
    envFile: ${join(home, '.env')}
    enabled: false
  - name: docs
    description: imported from Cursor
    server: https://docs.example/mcp
    transport: http
    url: https://docs.example/mcp
`);
  });

  it('a server that its client had disabled gets no advice to enable it when variables are set', async () => {
    const server = { type: 'local', command: ['npx', 'x', '--api-key', 'abc-4711'], enabled: false };
    const mcp = { off: { ...server, environment: { API_KEY: 'abcdef-123' } } };
    const { run } = begin({ '.config/opencode/opencode.json': json({ mcp }) });
    expect((await run('--dry-run')).stderr).toBe(
      `  opencode off: set OFF_API_KEY (its value is in $/.config/opencode/opencode.json, mcp.off, command[3])
  opencode off: set API_KEY (its value is in $/.config/opencode/opencode.json, mcp.off, environment.API_KEY)
  opencode off: disabled, as in opencode; to use it: toolherd enable off -g
`,
    );
  });

  it('a variable that is set needs no instructions', async () => {
    const { run, written } = begin({ '.cursor/mcp.json': CURSOR }, { GITHUB_TOKEN: 'x', GH_HOST: 'y' });
    const { stderr } = await run('--yes');
    expect(stderr).toBe('  cursor github: toolherd has no equivalent for the field color of Cursor\n');
    expect(written()).not.toContain('enabled');
  });

  it('--json has every field, and no secret', async () => {
    const { run } = begin(FILES);
    const { status, stdout, stderr } = await run('--yes', '--json', '--from', 'cursor,gemini', 'github');
    expect(JSON.parse(stdout)).toEqual({
      api_version: 1,
      ok: false,
      dry_run: false,
      file: '$/home/config.yaml',
      servers: [
        {
          from: 'cursor',
          file: '$/.cursor/mcp.json',
          path: 'mcpServers.github',
          name: 'github',
          original_name: 'github',
          transport: 'stdio',
          entry: {
            name: 'github',
            description: 'imported from Cursor',
            server: '@x/github',
            command: 'npx',
            args: ['-y', '@x/github'],
            env: { GITHUB_TOKEN: '${GITHUB_TOKEN}', HOST: '${GH_HOST}' },
            envFile: '$/.env',
            enabled: false,
          },
          result: 'added',
          why: null,
          needs_command: null,
          without_home: ['color'],
          remarks: [],
          set: [
            {
              name: 'GITHUB_TOKEN',
              value_stands_in: '$/.cursor/mcp.json, mcpServers.github, env.GITHUB_TOKEN',
            },
            { name: 'GH_HOST', value_stands_in: null },
          ],
        },
      ],
      broken: [
        {
          from: 'gemini',
          file: '$/.gemini/settings.json',
          message: '$/.gemini/settings.json cannot be read',
          why: 'it is not valid JSON',
          fix: 'correct it at $/.gemini/settings.json:1:16',
        },
      ],
    });
    expect(stdout + stderr).not.toContain('thesecretvalue');
    expect(status).toBe(1);
  });

  it('does not write a server that exists; --name adds it under another name', async () => {
    const { run, written } = begin({ '.cursor/mcp.json': CURSOR, '.codex/config.toml': CODEX });
    await run('--yes');
    const before = written();
    expect(await run('--yes')).toMatchObject({ status: 0, stdout: TABLE.replaceAll('new    ', 'skipped') });
    expect(written()).toBe(before);
    expect(await run('github', '--from', 'codex', '--name', 'other', '--yes')).toMatchObject({ status: 0 });
    expect(written()).toBe(
      `${before}  - name: other\n    description: imported from Codex\n    server: "@y/github"\n    command: npx\n` +
        '    args:\n      - -y\n      - "@y/github"\n',
    );
    expect(await run('--name', 'x', '--yes')).toMatchObject({ status: 2 });
    expect(await run('gihtub')).toMatchObject({
      status: 2,
      stderr: "error: UsageError: no client has a server 'gihtub'\n  fix: did you mean 'github'?\n",
    });
  });

  it("skips servers of HoloDeck's registry that exist by registry_name, also the second time", async () => {
    const entry = (name: string, registryName: string) =>
      `  - {name: ${name}, description: d, server: s, command: npx, registry_name: ${registryName}}\n`;
    const { run } = begin({
      '.holodeck/config.yaml': `mcp_servers:\n${entry('fs', 'io.a/fs')}${entry('git', 'io.a/git')}`,
      'home/config.yaml': `mcp_servers:\n${entry('files', 'io.a/fs')}`,
    });
    const results = async () => {
      const { status, stdout } = await run('--yes', '--json');
      return [status, ...JSON.parse(stdout).servers.map(({ result }: { result: string }) => result)];
    };
    expect(await results()).toEqual([0, 'skipped', 'added']);
    expect(await results()).toEqual([0, 'skipped', 'skipped']);
  });

  it('prints a warning once', async () => {
    const { run } = begin({
      '.cursor/mcp.json': json({ mcpServers: { n: { command: 'npx', args: ['x'] } } }),
      'home/config.yaml':
        'mcp_servers:\n  - {name: n, description: d, server: s, command: npx, registry_name: io.a/n}\n',
    });
    const { stdout } = await run('--yes', '--json');
    expect(JSON.parse(stdout).servers[0].remarks).toEqual([expect.stringContaining('by hand wins')]);
  });

  it('leaves secrets of the arguments out of the package name', async () => {
    const { run, written } = begin({
      '.cursor/mcp.json': json({
        mcpServers: {
          git: { command: 'uvx', args: ['--from', 'git+https://me:s3cretvalue@x.example/y', 'z'] },
        },
      }),
    });
    const { stdout } = await run('--yes', '--json');
    expect(stdout + written()).not.toContain('s3cretvalue');
    expect(written()).toContain('server: git+https://x.example/y\n');
  });

  it('quotes a name with shell characters in its advice', async () => {
    const name = '$(touch x)';
    const { run } = begin({
      '.cursor/mcp.json': json({ mcpServers: { [name]: { command: 'npx', args: ['a'] } } }),
      '.gemini/settings.json': json({ mcpServers: { [name]: { command: 'npx', args: ['b'] } } }),
    });
    expect((await run('--dry-run')).stderr).toContain(`toolherd import '${name}' --from gemini`);
  });

  it('treats the same server in two clients as one', async () => {
    const text = json({ mcpServers: { a: { command: 'uvx', args: ['a'] } } });
    const { run } = begin({ '.cursor/mcp.json': text, '.codeium/windsurf/mcp_config.json': text });
    expect((await run('--dry-run')).stderr).toBe('  windsurf a: skipped: the same as from cursor\n');
  });

  it('skips the entry that attach wrote, and one like it written by hand', async () => {
    const byHand = { mcpServers: { herd: { command: 'npx', args: ['-y', 'toolherd@1', 'bridge'] } } };
    const { run, home } = begin({ '.gemini/settings.json': json(byHand) });
    await toolherd(['attach', 'cursor'], { cwd: home });
    expect((await run('--dry-run')).stderr).toBe(
      '  cursor toolherd: skipped: it is this herd\n  gemini herd: skipped: it is this herd\n',
    );
  });

  it('a command outside the list needs --allow-commands; it is added to the config, whose comments stay', async () => {
    const { run, written } = begin({
      '.cursor/mcp.json': json({
        mcpServers: { a: { command: 'node', args: ['a.js'] }, b: { command: 'uvx' } },
      }),
      'home/config.yaml': '# mine\nversion: "1.0"\nsecurity:\n  # why\n  trust: ask # so\n',
    });
    const refused = await run('--yes');
    expect(refused.status).toBe(1);
    expect(refused.stdout).toContain('imported: 1 server to ');
    expect(refused.stderr).toContain(
      'a was not written: the command node is not allowed: say --allow-commands',
    );
    expect(await run('--yes', '--allow-commands')).toMatchObject({ status: 0 });
    expect(written()).toContain('# mine\nversion: "1.0"\nsecurity:\n  # why\n');
    expect(written()).toContain('  allowed_commands: [node]\n');
    expect(written()).toContain('trust: ask # so\n');
    expect(written()).toContain('    command: node\n');
  });

  it('does not allow a command for a server that exists', async () => {
    const mine = 'mcp_servers:\n  - {name: n, description: d, server: s, command: npx}\n';
    const { run, written } = begin({
      '.cursor/mcp.json': json({ mcpServers: { n: { command: 'node', args: ['x.js'] } } }),
      'home/config.yaml': mine,
    });
    const { status, stdout } = await run('--yes', '--allow-commands', '--json');
    expect([status, JSON.parse(stdout).servers[0].result]).toEqual([0, 'skipped']);
    expect(written()).toBe(mine);
  });

  it('import needs --yes if there is no terminal; an unknown client is an error with a suggestion', async () => {
    const { run, file } = begin({ '.cursor/mcp.json': CURSOR });
    expect(await run()).toMatchObject({ status: 2, stdout: expect.stringContaining('FROM ') });
    expect(await run('--json')).toMatchObject({ status: 2 });
    expect(await run('--from', 'cursor,vscod')).toMatchObject({
      status: 2,
      stderr: "error: UsageError: unknown client 'vscod'\n  fix: did you mean 'vscode'?\n",
    });
    expect(existsSync(file)).toBe(false);
  });

  it('leaves a broken config unchanged, and refuses an invalid name', async () => {
    const broken = begin({ '.cursor/mcp.json': CURSOR, 'home/config.yaml': 'mcp_servers: [' });
    expect(await broken.run('--yes')).toMatchObject({ status: 78 });
    expect(broken.written()).toBe('mcp_servers: [');
    const { run } = begin({
      '.cursor/mcp.json': json({ mcpServers: { 'a\u001b[31m\nb': { command: 'uvx' } } }),
    });
    const { status, stdout, stderr } = await run('--yes');
    expect(status).toBe(1);
    expect(stdout + stderr).not.toContain('\u001b');
    expect(stdout.trim().split('\n')).toHaveLength(2);
  });

  it('import succeeds if there is no server to import: exit 0', async () => {
    const { run } = begin({ '.cursor/mcp.json': '{}' });
    expect(await run('--yes')).toEqual({
      status: 0,
      stdout: 'no server in $/.cursor/mcp.json\n',
      stderr: '',
    });
    expect(await run('--yes', '--from', 'zed')).toMatchObject({
      stdout: 'no client has a config that import knows\n',
    });
  });

  it('--scope project reads the files of a project into its agent.yaml', async () => {
    const text = json({ servers: { a: { command: 'npx', args: ['-y', 'a', '${workspaceFolder}'] } } });
    const { run, home } = begin({ '.vscode/mcp.json': text });
    expect((await run('--yes')).stdout).toBe('no client has a config that import knows\n');
    expect(await run('--yes', '--scope', 'project', '--agent', 'agent.yaml')).toMatchObject({ status: 0 });
    expect(readFileSync(join(home, 'agent.yaml'), 'utf8')).toBe(
      'tools:\n  - name: a\n    description: imported from VS Code\n    type: mcp\n    server: a\n    command: npx\n' +
        '    args:\n      - -y\n      - a\n      - ${workspaceFolder}\n',
    );
  });

  it('imported servers run in the running daemon', async () => {
    const { home, say } = await startHerd(config([]));
    const { command, args } = { command: process.execPath, args: [fixturePath('good.mjs'), 'x$y'] };
    const text = json({ mcpServers: { good: { command, args, env: { PLAIN: '${X}' } } } });
    mkdirSync(join(home.folder, '.config', 'Claude'), { recursive: true });
    writeFileSync(join(home.folder, '.config', 'Claude', 'claude_desktop_config.json'), text);
    const options = { cwd: home.folder, env: home.environment };
    const outcome = await toolherd(['import', '--yes', '--allow-commands'], options);
    expect(outcome).toMatchObject({ status: 0 });
    expect(JSON.parse(await say('good', 'argv'))).toEqual(['x$y']);
    expect(JSON.parse(await say('good', 'env')).PLAIN).toBe('${X}');
  });

  it.runIf(existsSync('/usr/bin/script'))(
    'asks on a terminal, for all servers and then for each',
    async () => {
      const servers = { a: { command: 'uvx', args: ['a'] }, b: { command: 'uvx', args: ['b'] } };
      const { home, file } = begin({ '.cursor/mcp.json': json({ mcpServers: servers }) });
      const answers: [string, string][] = [
        ['Import all 2? [y/N] ', 'n\n'],
        ['Import a? [y/N] ', 'n\n'],
        ['Import b? [y/N] ', 'y\n'],
      ];
      const env = {
        PATH: process.env.PATH ?? '',
        HOME: home,
        TOOLHERD_HOME: join(home, 'home'),
        TERM: 'xterm',
      };
      const command = `"${process.execPath}" "${COMMAND}" import`;
      const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: home, env });
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        said += chunk;
        const [question, answer] = answers[0] ?? ['', ''];
        if (question === '' || !said.includes(question)) return;
        answers.shift();
        child.stdin.write(answer);
      });
      const [status] = await once(child, 'close');
      expect({ status, answers, said }).toMatchObject({
        status: 0,
        answers: [],
        said: expect.stringContaining('FROM '),
      });
      const text = readFileSync(file, 'utf8');
      expect([text.includes('name: a'), text.includes('name: b')]).toEqual([false, true]);
    },
  );

  it('a server that is disabled in Cursor is written with enabled: false', async () => {
    const text = json({ mcpServers: { off: { command: 'npx', args: ['x'], disabled: true } } });
    const { run, written } = begin({ '.cursor/mcp.json': text });
    expect(await run('--yes')).toMatchObject({ status: 0 });
    expect(written()).toContain('enabled: false\n');
  });
});
