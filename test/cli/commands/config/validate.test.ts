import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolherd } from '../../../support/command.js';
import { makeFolder } from '../../../support/folder.js';
import { silentSocket } from '../../../support/silent-socket.js';

const GOOD = `tools:
  - name: files
    description: Files
    type: mcp
    server: "@modelcontextprotocol/server-filesystem"
    command: npx
    args: ["-y", "@modelcontextprotocol/server-filesystem"]
    env:
      API_KEY: "\${MY_KEY}"
`;

const BAD = `tools:
  - name: files
    description: Files
    type: mcp
    server: x
    command: npxx
    requestTimeout: 5
`;

describe('toolherd validate', () => {
  it('FR-026: a valid file is ok, with its servers and variables, without values', async () => {
    const cwd = makeFolder({ 'agent.yaml': GOOD });
    const { status, stdout, stderr } = await toolherd(['validate'], { cwd, env: { MY_KEY: 'canary-value' } });
    expect(stdout).toBe(
      `${join(cwd, 'agent.yaml')}: ok\n  files  stdio\n  \${MY_KEY} is set (environment)\n`,
    );
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });

  it('FR-026: every problem is shown with its position and its fix: exit 78', async () => {
    const cwd = makeFolder({ 'agent.yaml': BAD });
    const file = join(cwd, 'agent.yaml');
    const { status, stdout, stderr } = await toolherd(['validate', 'agent.yaml'], { cwd });
    expect(stderr).toBe(
      [
        `error: MCPConfigError: Invalid command 'npxx'. Supported commands: npx, uvx, docker`,
        `  at ${file}:6:14 (tools[0].command)`,
        `  fix: did you mean 'npx'?`,
        `error: MCPConfigError: Unknown field 'requestTimeout'`,
        `  at ${file}:7:5 (tools[0].requestTimeout)`,
        `  fix: did you mean 'request_timeout'?`,
        '',
      ].join('\n'),
    );
    expect(stdout).toBe(`${file}: 2 problems\n`);
    expect(status).toBe(78);
  });

  it('FR-010: an unset variable is named: exit 78', async () => {
    const cwd = makeFolder({ 'agent.yaml': GOOD });
    const { status, stderr } = await toolherd(['validate'], { cwd });
    expect(stderr).toContain("error: ConfigError: Environment variable 'MY_KEY' not found\n");
    expect(status).toBe(78);
  });

  it('needs no allow, and checks the global config together with the nearest agent.yaml', async () => {
    const config = 'version: "1.0"\nsecurity:\n  allowed_commands: [npxx]\n';
    const cwd = makeFolder({
      'agent.yaml': BAD.replace(/ {4}requestTimeout.*\n/, ''),
      'home/config.yaml': config,
      'deep/er/x': '',
    });
    const { status, stdout } = await toolherd(['validate'], {
      cwd: join(cwd, 'deep/er'),
      env: { TOOLHERD_HOME: join(cwd, 'home') },
    });
    expect(stdout).toBe(
      `${join(cwd, 'home/config.yaml')}: ok\n${join(cwd, 'agent.yaml')}: ok\n  files  stdio\n`,
    );
    expect(status).toBe(0);
  });

  it('the problems of the global config are shown once, and counted to it alone', async () => {
    const cwd = makeFolder({
      'agent.yaml': BAD.replace(/ {4}requestTimeout.*\n/, ''),
      'home/config.yaml':
        'version: "1.0"\nsecurity: {allowed_commands: [npxx]}\nmcp_servers:\n  - {name: a, server: s, command: nope}\n',
    });
    const { status, stdout, stderr } = await toolherd(['validate'], { cwd });
    expect(stdout).toBe(
      `${join(cwd, 'home/config.yaml')}: 1 problem\n${join(cwd, 'agent.yaml')}: ok\n  files  stdio\n`,
    );
    expect(stderr.match(/Invalid command 'nope'/g)).toHaveLength(1);
    expect(status).toBe(78);
  });

  it('a variable is listed with the file that uses it, and with no other file', async () => {
    const cwd = makeFolder({
      'agent.yaml': GOOD,
      'home/config.yaml':
        'version: "1.0"\nmcp_servers:\n  - {name: a, description: d, server: s, command: npx, args: ["${UNSET_HERE}"]}\n',
    });
    const { stdout } = await toolherd(['validate'], { cwd, env: { MY_KEY: 'x' } });
    expect(stdout).toMatch(/agent\.yaml: ok\n.*\n {2}\$\{MY_KEY\} is set \(environment\)\n$/);
  });

  it('waits two seconds at most for a daemon that accepts connections and never answers', async () => {
    const cwd = makeFolder({ 'agent.yaml': GOOD });
    const { path, connections } = await silentSocket();
    const began = performance.now();
    const { status, stdout } = await toolherd(['validate'], {
      cwd,
      env: { MY_KEY: 'x', TOOLHERD_SOCKET: path },
    });
    // it was asked; an answer is given up by others after 30 s
    expect(connections).toHaveLength(1);
    expect(performance.now() - began).toBeLessThan(15_000);
    expect([status, stdout]).toEqual([0, expect.stringContaining('agent.yaml: ok')]);
  });

  it('the JSON shape is stable', async () => {
    const cwd = makeFolder({ 'agent.yaml': GOOD, 'bad.yaml': BAD });
    const { status, stdout } = await toolherd(['validate', 'agent.yaml', 'bad.yaml', '--json'], {
      cwd,
      env: { MY_KEY: 'canary-value' },
    });
    expect(status).toBe(78);
    expect(JSON.parse(stdout)).toEqual({
      api_version: 1,
      ok: false,
      files: [
        {
          file: join(cwd, 'agent.yaml'),
          kind: 'agent',
          ok: true,
          servers: [{ name: 'files', transport: 'stdio', enabled: true }],
          problems: [],
          warnings: [],
          variables: [{ name: 'MY_KEY', resolved: true, from: 'environment' }],
        },
        {
          file: join(cwd, 'bad.yaml'),
          kind: 'agent',
          ok: false,
          servers: [],
          problems: [
            expect.objectContaining({ line: 6, column: 14, path: 'tools[0].command' }),
            expect.objectContaining({ line: 7 }),
          ],
          warnings: [],
          variables: [],
        },
      ],
    });
  });

  it('a missing file, a folder and a source document each get their own answer', async () => {
    const source =
      '{"name":"r","description":"d","source_type":"mcp","mcp_server_url":"https://example.com/mcp"}';
    const cwd = makeFolder({ 'source.json': source, 'folder/x': '' });
    const missing = await toolherd(['validate', 'nope.yaml'], { cwd });
    expect(missing.stderr).toContain('nope.yaml does not exist');
    expect(missing.status).toBe(78);
    const folder = await toolherd(['validate', 'folder'], { cwd });
    expect(folder.stderr).toContain('is a folder');
    const good = await toolherd(['validate', 'source.json'], { cwd });
    expect(good.stdout).toBe(`${join(cwd, 'source.json')}: ok\n  r  http\n`);
  });

  it('X2: control characters of a file never reach the terminal', async () => {
    const cwd = makeFolder({
      'agent.yaml':
        'tools:\n  - name: "a\\u202Eb"\n    type: mcp\n    server: x\n    "\\u001b[31mred": 1\n    command: npx\n',
    });
    const { stdout, stderr } = await toolherd(['validate'], { cwd });
    expect(`${stdout}${stderr}`).not.toMatch(/[\u001b\u202e]/);
  });
});
