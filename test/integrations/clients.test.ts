import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CLIENTS, findServers, type Scope } from '../../src/integrations/index.js';
import { PATIENCE_MS, runs } from '../fuzz/runs.js';
import { makeFolder } from '../support/folder.js';
import { OWN_FILES } from './own-files.js';

/** The entries of a client's file as ours; `$` is the folder of the test. */
function read(name: string, file: string, text: string, scope: Scope = 'user') {
  const folder = makeFolder({ [file]: text });
  const found = findServers({
    clients: CLIENTS.filter((client) => client.name === name),
    scope,
    machine: { platform: file.startsWith('Library') ? 'darwin' : 'linux', home: folder, environment: {} },
    folder,
    targetFolder: join(folder, 'herd'),
  });
  expect(found.broken).toEqual([]);
  return found.servers.map(({ entry, unsupportedFields, refusal }) =>
    JSON.parse(JSON.stringify({ ...entry, unsupportedFields, refusal }).replaceAll(folder, '$')),
  );
}

const json = (value: unknown) => JSON.stringify(value);

describe('the declaration of a client', () => {
  it.each(CLIENTS.map((client) => [client.name, client] as const))(
    'says what the user does next, for its own file and for that of a project: %s',
    (_, { next, project }) => {
      expect(next.user).not.toBe('');
      expect(next.project === undefined).toBe(project.length === 0);
    },
  );
});

describe('the entries of clients become ours', () => {
  it('VS Code, on Linux and macOS', () => {
    const text = json({
      inputs: [{ id: 'key', type: 'promptString', password: true }],
      servers: {
        local: {
          type: 'stdio',
          command: 'npx',
          args: ['-y', 'pkg@1', '${workspaceFolder}'],
          env: { KEY: '${input:key}', HOST: '${env:HOST}' },
          envFile: '${workspaceFolder}/.env',
          dev: { watch: '*.js' },
        },
        remote: { type: 'http', url: 'https://x.example/mcp', headers: { A: 'b' } },
      },
    });
    const expected = [
      {
        name: 'local',
        description: 'imported from VS Code',
        server: 'pkg@1',
        command: 'npx',
        args: ['-y', 'pkg@1', '${workspaceFolder}'],
        env: { KEY: '${KEY}', HOST: '${HOST}' },
        envFile: '${workspaceFolder}/.env',
        unsupportedFields: ['dev'],
      },
      {
        name: 'remote',
        description: 'imported from VS Code',
        server: 'https://x.example/mcp',
        transport: 'http',
        url: 'https://x.example/mcp',
        headers: { A: 'b' },
        unsupportedFields: [],
      },
    ];
    expect(read('vscode', '.config/Code/User/mcp.json', text)).toEqual(expected);
    expect(read('vscode', 'Library/Application Support/Code/User/mcp.json', text)).toEqual(expected);
  });

  it('a server of a project runs in its folder', () => {
    const text = json({ servers: { a: { command: './run', args: ['./x', '${workspaceFolder}/y', 'z'] } } });
    expect(read('vscode', '.vscode/mcp.json', text, 'project')).toMatchObject([
      { command: '$/run', args: ['$/x', '$/y', 'z'], cwd: '$' },
    ]);
  });

  it('relative paths of a server with a cwd are those of that folder', () => {
    const text = json({ servers: { a: { command: './run', args: ['./x', '../y', 'z'], cwd: 'sub' } } });
    expect(read('vscode', '.vscode/mcp.json', text, 'project')).toMatchObject([
      { command: '$/sub/run', args: ['$/sub/x', '$/y', 'z'], cwd: '$/sub' },
    ]);
  });

  it('Claude Desktop has no variables', () => {
    const text = json({ mcpServers: { a: { command: 'docker', args: ['run', 'x', '${Y}'], env: {} } } });
    expect(read('claude-desktop', '.config/Claude/claude_desktop_config.json', text)).toEqual([
      {
        name: 'a',
        description: 'imported from Claude Desktop',
        server: 'docker',
        command: 'docker',
        args: ['run', 'x', '$${Y}'],
        unsupportedFields: [],
      },
    ]);
  });

  it('Claude Code: its global servers, and those of this folder', () => {
    const folder = makeFolder({});
    const text = json({
      history: ['x'.repeat(2 * 1024 * 1024)],
      mcpServers: { a: { type: 'sse', url: 'https://${H:-x.example}/e', headersHelper: 'x', timeout: 1500 } },
      projects: { [folder]: { mcpServers: { b: { command: 'uvx', args: ['b'] } } }, '/other': {} },
    });
    const home = makeFolder({ '.claude.json': text });
    const { servers } = findServers({
      clients: CLIENTS.filter(({ name }) => name === 'claude-code'),
      scope: 'user',
      machine: { platform: 'linux', home, environment: {} },
      folder,
      targetFolder: home,
    });
    expect(servers.map(({ entry, unsupportedFields, path }) => ({ entry, unsupportedFields, path }))).toEqual(
      [
        {
          entry: {
            name: 'a',
            description: 'imported from Claude Code',
            server: 'https://${H:-x.example}/e',
            transport: 'sse',
            url: 'https://${H:-x.example}/e',
            request_timeout: 2,
          },
          unsupportedFields: ['headersHelper'],
          path: 'mcpServers.a',
        },
        {
          entry: {
            name: 'b',
            description: 'imported from Claude Code',
            server: 'b',
            command: 'uvx',
            args: ['b'],
            cwd: folder,
          },
          unsupportedFields: [],
          path: `projects[${JSON.stringify(folder)}].mcpServers.b`,
        },
      ],
    );
  });

  it('a url of Cursor that ends in sse is SSE, and its other fields are reported', () => {
    const text = '{ /* mine */ "mcpServers": {"a": {"url": "https://x.example/sse", "auth": {}},}, }';
    expect(read('cursor', '.cursor/mcp.json', text)).toMatchObject([
      { transport: 'sse', unsupportedFields: ['auth'] },
    ]);
  });

  it('Codex names variables instead of writing them', () => {
    const text = `
[mcp_servers.local]
command = "npx"
args = ["-y", "x"]
env_vars = ["A", { name = "B", source = "remote" }]
startup_timeout_sec = 20
tool_timeout_sec = 90.5
enabled = false
enabled_tools = ["read"]
[mcp_servers.local.env]
C = "$D"
[mcp_servers.remote]
url = "https://x.example/mcp"
bearer_token_env_var = "T"
http_headers = { X = "y" }
env_http_headers = { Z = "ZZ" }
startup_timeout_ms = 1500
required = true
`;
    expect(read('codex', '.codex/config.toml', text)).toEqual([
      {
        name: 'local',
        description: 'imported from Codex',
        server: 'x',
        command: 'npx',
        args: ['-y', 'x'],
        env: { C: '$D', A: '${A}', B: '${B}' },
        start_timeout: 20,
        request_timeout: 91,
        enabled: false,
        tools: { allow: ['read'] },
        unsupportedFields: [],
      },
      {
        name: 'remote',
        description: 'imported from Codex',
        server: 'https://x.example/mcp',
        transport: 'http',
        url: 'https://x.example/mcp',
        headers: { X: 'y', Z: '${ZZ}', Authorization: 'Bearer ${T}' },
        timeout: 1.5,
        unsupportedFields: ['required'],
      },
    ]);
  });

  it('Gemini CLI: the name of the field distinguishes http and sse', () => {
    const text = json({
      mcpServers: {
        a: {
          command: 'uvx',
          args: ['a'],
          env: { K: '$KEY' },
          timeout: 30_000,
          trust: true,
          includeTools: ['x'],
        },
        b: { url: 'https://x.example/b' },
        c: { httpUrl: 'https://x.example/c' },
        d: { url: 'https://x.example/d', type: 'http' },
      },
    });
    expect(read('gemini', '.gemini/settings.json', text)).toMatchObject([
      { env: { K: '${KEY}' }, request_timeout: 30, tools: { allow: ['x'] }, unsupportedFields: ['trust'] },
      { transport: 'sse' },
      { transport: 'http' },
      { transport: 'http' },
    ]);
  });

  it('a disabled server and disabled tools of Windsurf stay disabled', () => {
    const text = json({
      mcpServers: {
        a: { serverUrl: 'https://x.example/mcp', disabled: true, disabledTools: ['x'], alwaysAllow: [] },
      },
    });
    expect(read('windsurf', '.codeium/windsurf/mcp_config.json', text)).toMatchObject([
      {
        url: 'https://x.example/mcp',
        enabled: false,
        tools: { deny: ['x'] },
        unsupportedFields: ['alwaysAllow'],
      },
    ]);
  });

  it('Zed, both forms; extensions that run inside Zed are refused', () => {
    const text = json({
      theme: 'One',
      context_servers: {
        a: { command: 'uvx', args: ['a'], env: { A: '$B' } },
        b: { source: 'custom', command: { path: 'npx', args: ['b'], env: null } },
        c: { source: 'extension', settings: {} },
      },
    });
    expect(read('zed', '.config/zed/settings.json', text)).toMatchObject([
      { command: 'uvx', env: { A: '$B' } },
      { command: 'npx', args: ['b'], server: 'b' },
      { refusal: 'it has neither a command nor a url', unsupportedFields: ['settings'] },
    ]);
  });

  it('Cline, in the storage of VS Code and in its own folder', () => {
    const text = json({
      mcpServers: { a: { type: 'streamableHttp', url: 'https://x.example/mcp', autoApprove: [] } },
    });
    const expected = [{ transport: 'http', unsupportedFields: ['autoApprove'] }];
    const storage = 'Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json';
    expect(read('cline', `.config/${storage}`, text)).toMatchObject(expected);
    expect(read('cline', '.cline/data/settings/cline_mcp_settings.json', text)).toMatchObject(expected);
  });

  it('local and remote entries of opencode become stdio and http, with variables in our form', () => {
    const text = json({
      mcp: {
        a: { type: 'local', command: ['npx', '-y', 'a'], environment: { K: '{env:KEY}' }, enabled: true },
        b: { type: 'remote', url: 'https://x.example/mcp', enabled: false, oauth: {} },
      },
    });
    expect(read('opencode', '.config/opencode/opencode.jsonc', text)).toMatchObject([
      { command: 'npx', args: ['-y', 'a'], env: { K: '${KEY}' }, unsupportedFields: [] },
      { transport: 'http', enabled: false, unsupportedFields: ['oauth'] },
    ]);
  });

  it.each(Object.entries(OWN_FILES))(
    'servers in a file that the client wrote are imported: %s',
    (name, [file, text]) => {
      const servers = read(name, file, text).filter((server) => server.name !== 'developer');
      expect(servers).toMatchObject([
        {
          name: 'memory',
          command: 'npx',
          args: ['-y', '@modelcontextprotocol/server-memory'],
          unsupportedFields: [],
        },
        { name: 'remote', transport: 'http', url: 'https://x.example/mcp', unsupportedFields: [] },
      ]);
      for (const server of servers) expect(server).not.toHaveProperty('refusal');
      expect(JSON.stringify(servers)).not.toContain('s3cret');
      const authorization = servers[1].headers?.Authorization;
      if (text.includes('Authorization')) expect(authorization).toBe('Bearer ${REMOTE_TOKEN}');
    },
  );

  it('a secret of Cline 3 is said to be in the map of its transport', () => {
    const [file, text] = OWN_FILES.cline ?? ['', ''];
    const home = makeFolder({ [file]: text });
    const { servers } = findServers({
      clients: CLIENTS.filter((client) => client.name === 'cline'),
      scope: 'user',
      machine: { platform: 'linux', home, environment: {} },
      folder: home,
      targetFolder: home,
    });
    expect(servers.flatMap(({ secrets }) => secrets)).toEqual([
      { variable: 'REMOTE_TOKEN', at: 'transport.headers.Authorization' },
    ]);
  });

  it('Continue: its secrets become variables, its timeout is that of the start', () => {
    const [file, text] = OWN_FILES.continue ?? ['', ''];
    expect(read('continue', file, text)[0]).toMatchObject({
      env: { API_KEY: '${MEMORY_KEY}' },
      start_timeout: 20,
    });
  });

  it('goose: what comes with it is refused, keys of its keyring become variables', () => {
    const [file, text] = OWN_FILES.goose ?? ['', ''];
    expect(read('goose', file, text)).toMatchObject([
      { name: 'developer', refusal: 'it has neither a command nor a url' },
      { env: { API_KEY: '${API_KEY}', OTHER_KEY: '${OTHER_KEY}' }, request_timeout: 300 },
      { enabled: false },
    ]);
  });

  it('__proto__ is an ordinary name of a server, a field or a variable', () => {
    const text =
      '{"mcpServers": {"__proto__": {"command": "uvx", "args": ["a"], "__proto__": {"cwd": "/"}}}}';
    const expected = { name: '__proto__', command: 'uvx', args: ['a'], unsupportedFields: ['__proto__'] };
    for (const client of CLIENTS.filter(
      ({ format, keys }) => format === 'json' && keys[0] === 'mcpServers',
    )) {
      const [file = ''] = client.user({ platform: 'linux', home: '/', environment: {} });
      const [server, ...others] = read(client.name, file.slice(1), text);
      expect(server).toMatchObject(expected);
      expect(server).not.toHaveProperty('cwd');
      expect(others).toEqual([]);
    }
    const env = '{"mcpServers": {"a": {"command": "uvx", "env": {"__proto__": "1", "B": "2"}}}}';
    expect(Object.entries(read('cursor', '.cursor/mcp.json', env)[0].env)).toEqual([
      ['__proto__', '1'],
      ['B', '2'],
    ]);
    const toml = '[mcp_servers.__proto__]\ncommand = "uvx"\n';
    expect(read('codex', '.codex/config.toml', toml)).toMatchObject([{ name: '__proto__', command: 'uvx' }]);
  });

  it(
    'any content is read without a crash, and no secret is copied',
    () => {
      const odd = fc.oneof(
        fc.jsonValue(),
        fc.constantFrom('x', ['x'], { X_TOKEN: 'canary-1', a: '$' }, true, 5),
      );
      const names = [...new Set(CLIENTS.flatMap(({ fields }) => Object.keys(fields)))];
      const entry = fc.dictionary(fc.constantFrom(...names, 'odd', '__proto__'), odd, { maxKeys: 6 });
      const home = makeFolder({});
      const clients = CLIENTS.filter(({ format }) => format === 'json');
      const files = clients.map(
        (client) => client.user({ platform: 'linux', home, environment: {} })[0] ?? '',
      );
      for (const file of files) mkdirSync(dirname(file), { recursive: true });
      const search = { scope: 'user' as const, machine: { platform: 'linux', home, environment: {} } };
      fc.assert(
        fc.property(fc.dictionary(fc.string(), fc.oneof(entry, fc.jsonValue())), (servers) => {
          for (const [index, { keys }] of clients.entries()) {
            writeFileSync(files[index] ?? '', json({ [keys[0] ?? '']: servers }));
          }
          const found = findServers({ ...search, clients, folder: home, targetFolder: home });
          expect(found.broken).toEqual([]);
          expect(found.servers).toHaveLength(Object.keys(servers).length * clients.length);
          for (const { entry: ours } of found.servers) {
            for (const field of ['env', 'headers'])
              expect(JSON.stringify(ours[field]) ?? '').not.toContain('canary');
          }
        }),
        runs(60, 5000),
      );
    },
    PATIENCE_MS,
  );

  it('HoloDeck has the same fields as toolherd', () => {
    const text =
      'mcp_servers:\n  - {name: a, description: d, type: mcp, server: s, command: uvx, args: [a], env: {A: "${A}"}, odd: 1}\n';
    expect(read('holodeck', '.holodeck/config.yaml', text)).toEqual([
      {
        name: 'a',
        description: 'd',
        server: 's',
        command: 'uvx',
        args: ['a'],
        env: { A: '${A}' },
        unsupportedFields: ['odd'],
      },
    ]);
    const more =
      'mcp_servers:\n  - {name: p, server: s, plugin_dir: ./p, envFile: .env}\n  - {name: q, server: "@x/y"}\n';
    const [plugin, legacy] = read('holodeck', '.holodeck/config.yaml', more);
    expect(plugin).toMatchObject({
      plugin_dir: '$/.holodeck/p',
      envFile: '$/.holodeck/.env',
      unsupportedFields: [],
    });
    expect(legacy).toEqual({
      name: 'q',
      description: 'imported from HoloDeck',
      server: '@x/y',
      unsupportedFields: [],
    });
    expect(plugin).not.toHaveProperty('refusal');
  });
});
