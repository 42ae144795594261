import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { defaultSettings } from '../../src/config/fields/settings.js';
import { loadEntry } from '../../src/config/load.js';
import { parseJson } from '../../src/config/parse/parse-json.js';
import { makeFolder } from '../support/folder.js';
import {
  CONTRACT,
  DATA_MODEL,
  PLUGIN_MANIFEST,
  PLUGIN_SOURCE,
  REMOTE_SOURCE,
  SECTIONS,
  VARIABLES,
} from './examples.js';
import {
  HOME,
  HTTP_DEFAULTS,
  loadAgent,
  loadHerd,
  only,
  refusalOf,
  SSE_DEFAULTS,
  STDIO_DEFAULTS,
  WEBSOCKET_DEFAULTS,
} from './support.js';

const load = (text: string) => loadAgent(text, { env: VARIABLES });

describe('FR-001: the four examples of the data model load as described', () => {
  it('stdio, the default', async () => {
    const loaded = await load(DATA_MODEL.stdio);
    expect(only(loaded)).toEqual({
      ...STDIO_DEFAULTS,
      name: 'filesystem',
      description: undefined,
      server: '@modelcontextprotocol/server-filesystem',
      origin: { scope: 'agent', file: loaded.agentFile, line: 2, column: 5 },
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-filesystem'],
      cwd: loaded.project,
      config: { allowed_directories: ['/workspace/data'] },
      roots: [{ uri: 'file:///workspace/data', name: 'data' }],
    });
    expect(loaded.warnings.map(({ message }) => message)).toEqual(["'filesystem' has no description"]);
  });

  it('the sse example loads', async () => {
    const loaded = await load(DATA_MODEL.sse);
    expect(only(loaded)).toEqual({
      ...SSE_DEFAULTS,
      name: 'remote_api',
      server: 'my-mcp-server',
      origin: { scope: 'agent', file: loaded.agentFile, line: 2, column: 5 },
      url: 'https://mcp.example.com/sse',
      headers: { Authorization: 'Bearer token-of-the-api' },
      timeoutMs: 30_000,
      sseReadTimeoutMs: 120_000,
    });
  });

  it('the websocket example loads', async () => {
    const loaded = await load(DATA_MODEL.websocket);
    expect(only(loaded)).toEqual({
      ...WEBSOCKET_DEFAULTS,
      name: 'realtime',
      server: 'realtime-server',
      origin: { scope: 'agent', file: loaded.agentFile, line: 2, column: 5 },
      url: 'wss://mcp.example.com/ws',
    });
  });

  it('the http example loads', async () => {
    const loaded = await load(DATA_MODEL.http);
    expect(only(loaded)).toEqual({
      ...HTTP_DEFAULTS,
      name: 'streaming_api',
      server: 'streaming-server',
      origin: { scope: 'agent', file: loaded.agentFile, line: 2, column: 5 },
      url: 'https://mcp.example.com/stream',
      terminateOnClose: true,
    });
  });
});

describe('FR-001: the six examples of the configuration load as described', () => {
  it('filesystem: workspaceFolder is the folder of the file, and allowed directories become roots', async () => {
    const loaded = await load(CONTRACT.filesystem);
    const folders = ['data', 'output'].map((name) => join(loaded.project, name));
    expect(only(loaded)).toEqual({
      ...STDIO_DEFAULTS,
      name: 'files',
      description: 'Read and write files in workspace',
      server: '@modelcontextprotocol/server-filesystem',
      origin: { scope: 'agent', file: loaded.agentFile, line: 2, column: 5 },
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-filesystem'],
      cwd: loaded.project,
      config: { allowed_directories: folders },
      roots: [
        { uri: pathToFileURL(folders[0]!).href, name: 'data' },
        { uri: pathToFileURL(folders[1]!).href, name: 'output' },
      ],
    });
    expect(loaded.warnings).toEqual([]);
  });

  it('github: FR-008 US2.1 a variable reaches the environment of the server', async () => {
    const loaded = await load(CONTRACT.github);
    expect(only(loaded)).toEqual({
      ...STDIO_DEFAULTS,
      name: 'github',
      description: 'GitHub repository operations',
      server: '@modelcontextprotocol/server-github',
      origin: { scope: 'agent', file: loaded.agentFile, line: 2, column: 5 },
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-github'],
      cwd: loaded.project,
      env: { GITHUB_TOKEN: 'token-of-github' },
      config: { repositories: ['owner/repo'] },
    });
  });

  it('the database example loads', async () => {
    const loaded = await load(CONTRACT.database);
    expect(only(loaded)).toEqual({
      ...STDIO_DEFAULTS,
      name: 'postgres',
      description: 'PostgreSQL database queries',
      server: '@modelcontextprotocol/server-postgres',
      origin: { scope: 'agent', file: loaded.agentFile, line: 2, column: 5 },
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-postgres'],
      cwd: loaded.project,
      env: { DATABASE_URL: 'postgres://user:pass@db/main' },
    });
  });

  it('python through uvx', async () => {
    const loaded = await load(CONTRACT.python);
    expect(only(loaded)).toEqual({
      ...STDIO_DEFAULTS,
      name: 'python_mcp',
      description: 'Python MCP server via uvx',
      server: 'mcp-server-fetch',
      origin: { scope: 'agent', file: loaded.agentFile, line: 2, column: 5 },
      command: 'uvx',
      args: ['mcp-server-fetch'],
      cwd: loaded.project,
      env: { CUSTOM_CONFIG: '/etc/custom.json' },
    });
  });

  it('docker: the declared name is passed on, its value stays out of argv', async () => {
    const loaded = await load(CONTRACT.docker);
    expect(only(loaded)).toEqual({
      ...STDIO_DEFAULTS,
      name: 'docker_mcp',
      description: 'Containerized MCP server',
      server: 'mcp-server-custom',
      origin: { scope: 'agent', file: loaded.agentFile, line: 2, column: 5 },
      command: 'docker',
      args: ['run', '-e', 'API_KEY', '--rm', '-i', 'mcp-server:latest'],
      cwd: loaded.project,
      env: { API_KEY: 'key-of-the-api' },
    });
  });

  it('cloud: headers, timeouts and FR-012 the request timeout', async () => {
    const loaded = await load(CONTRACT.cloud);
    expect(only(loaded)).toEqual({
      ...SSE_DEFAULTS,
      name: 'cloud_api',
      description: 'Cloud AI service via MCP',
      server: 'cloud-ai-mcp',
      origin: { scope: 'agent', file: loaded.agentFile, line: 2, column: 5 },
      url: 'https://api.example.com/mcp/sse',
      headers: { Authorization: 'Bearer key-of-the-cloud', 'X-Request-ID': 'holodeck-agent' },
      timeoutMs: 10_000,
      sseReadTimeoutMs: 300_000,
      requestTimeoutMs: 120_000,
    });
  });
});

describe("FR-001: the specification's sections, one for each transport", () => {
  it('stdio, with an envFile beside the file (FR-009)', async () => {
    const loaded = await loadAgent(SECTIONS.stdio, { files: { 'project/.env': 'FROM_FILE=1\n' } });
    expect(only(loaded)).toMatchObject({
      transport: 'stdio',
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-filesystem'],
      env: { FROM_FILE: '1', ALLOWED_PATHS: '/workspace' },
      encoding: 'utf-8',
      roots: [{ uri: 'file:///workspace/data', name: 'data' }],
    });
  });

  it('sse, websocket and http', async () => {
    expect(only(await load(SECTIONS.sse))).toMatchObject({
      transport: 'sse',
      headers: { Authorization: 'Bearer token-of-the-api', 'X-Custom-Header': 'value' },
      timeoutMs: 30_000,
      sseReadTimeoutMs: 120_000,
    });
    expect(only(await load(SECTIONS.websocket))).toMatchObject({ transport: 'websocket', timeoutMs: 30_000 });
    expect(only(await load(SECTIONS.http))).toMatchObject({
      transport: 'http',
      headers: { Authorization: 'Bearer token-of-http' },
      terminateOnClose: true,
    });
  });

  it('the legacy form runs as npx -y, with a deprecation warning with the fix', async () => {
    const loaded = await load(SECTIONS.legacy);
    expect(only(loaded)).toMatchObject({
      transport: 'stdio',
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-memory'],
      config: { key: 'value' },
    });
    const warning = loaded.warnings.find(({ message }) => message.includes('deprecated'));
    expect(warning).toMatchObject({ line: 4, path: 'tools[0].server' });
    expect(warning?.fix).toContain("'command: npx'");
  });
});

describe('source documents and the plugin manifest', () => {
  const outside = { environment: {}, userHome: HOME };

  it('the plugin source loads with its manifest: runtime, command, required and secret variable', async () => {
    const folder = makeFolder({ 'github/plugin.json': PLUGIN_MANIFEST });
    const plugin = join(folder, 'github');
    const file = join(folder, 'source.json');
    const document = parseJson(file, PLUGIN_SOURCE.replace('/opt/mcp-plugins/github', plugin));
    const loaded = await loadEntry(document, folder, defaultSettings(), outside);
    expect(only(loaded)).toEqual({
      ...STDIO_DEFAULTS,
      name: 'GitHub MCP',
      description: 'GitHub MCP server for repository operations',
      server: 'GitHub MCP',
      origin: { scope: 'registered', file, line: 1, column: 1 },
      command: 'uvx',
      args: ['mcp-server-github'],
      cwd: plugin,
      env: { GITHUB_TOKEN: 'ghp_xxx...' },
      lifecycle: 'transient',
    });
    expect(loaded.warnings).toEqual([]);
    expect(loaded.redactor.redact('token ghp_xxx... here')).toBe('token [redacted:GITHUB_TOKEN] here');
  });

  it('a source document may have type: mcp, as an entry of agent.yaml', async () => {
    const folder = makeFolder({ 'github/plugin.json': PLUGIN_MANIFEST });
    const text = PLUGIN_SOURCE.replace('/opt/mcp-plugins/github', join(folder, 'github'));
    const document = parseJson(join(folder, 'source.json'), text.replace('{', '{"type": "mcp",'));
    expect(only(await loadEntry(document, folder, defaultSettings(), outside)).name).toBe('GitHub MCP');
  });

  it('the load fails without the required variable, and names it', async () => {
    const folder = makeFolder({ 'github/plugin.json': PLUGIN_MANIFEST });
    const text = PLUGIN_SOURCE.replace('/opt/mcp-plugins/github', join(folder, 'github')).replace(
      /,\s*"mcp_env_vars": \{[^}]*\}/,
      '',
    );
    const document = parseJson(join(folder, 'source.json'), text);
    const error = await refusalOf(loadEntry(document, folder, defaultSettings(), outside));
    expect(error.problems).toMatchObject([
      { type: 'ConfigError', message: "Environment variable 'GITHUB_TOKEN' not found", line: 5 },
    ]);
  });

  it('the remote source, with its comment as written, loads when its host is in security.allow_http', async () => {
    const document = parseJson('/somewhere/source.json', REMOTE_SOURCE);
    const settings = defaultSettings();
    const allowing = { ...settings, security: { ...settings.security, allowHttp: ['cml-mcp'] } };
    const loaded = await loadEntry(document, '/somewhere', allowing, outside);
    expect(only(loaded)).toEqual({
      ...HTTP_DEFAULTS,
      name: 'CML MCP Server',
      server: 'CML MCP Server',
      origin: { scope: 'registered', file: '/somewhere/source.json', line: 1, column: 1 },
      url: 'http://cml-mcp:9000',
      headers: { 'API-KEY': 'optional-auth-header' },
    });
    expect(loaded.redactor.redact('optional-auth-header')).toBe('[redacted:API-KEY]');
  });

  it('the remote source is refused when security.allow_http does not name its host', async () => {
    const document = parseJson('/somewhere/source.json', REMOTE_SOURCE);
    const error = await refusalOf(loadEntry(document, '/somewhere', defaultSettings(), outside));
    expect(error.problems).toMatchObject([
      {
        type: 'MCPConfigError',
        message: "'url' must use https:// (or http:// for localhost)",
        path: 'mcp_server_url',
        line: 5,
        column: 21,
      },
    ]);
    expect(error.problems[0]?.fix).toContain('security.allow_http');
  });

  it('both may be in a config.yaml', async () => {
    const config = `version: "1.0"
security: {allow_http: [cml-mcp]}
mcp_servers:
  - name: CML MCP Server
    url: http://cml-mcp:9000
    source_type: mcp
    mcp_server_url: http://cml-mcp:9000
    mcp_transport_type: streamable_http
    mcp_env_vars: {API_KEY: optional-auth-header, MCP_HEADER_X_Team: blue}
  - {name: GitHub MCP, url: "mcp://github-plugin", source_type: mcp, mcp_plugin_dir: plugins/github, mcp_env_vars: {GITHUB_TOKEN: ghp_xxx...}}
`;
    const files = { 'home/plugins/github/plugin.json': PLUGIN_MANIFEST };
    const { servers } = await loadHerd({ config, files });
    expect(servers).toMatchObject([
      { transport: 'http', headers: { 'API-KEY': 'optional-auth-header', 'X-Team': 'blue' } },
      { transport: 'stdio', command: 'uvx', lifecycle: 'transient', origin: { scope: 'global' } },
    ]);
  });
});
