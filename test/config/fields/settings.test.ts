import { describe, expect, it } from 'vitest';
import { defaultText } from '../../../src/config/fields/defaults.js';
import { SETTINGS } from '../../../src/config/fields/settings.js';
import { loadAgent, loadGlobal, loadHerd, problemsOf, remoteAgent, stdioAgent, yamlOf } from '../support.js';

const SURFACE = { separator: '__', mode: 'auto', aboveTokens: 20_000, always: [], resultLimit: 100_000 };
const DEFAULTS = {
  daemon: {
    http: undefined,
    registry: 'https://registry.modelcontextprotocol.io/v0.1',
    logLevel: 'info',
    logMaxBytes: 10 * 1024 * 1024,
    listWaitMs: 2000,
    surface: SURFACE,
    runner: 'direct',
    updateCheckMs: 86_400_000,
    maxStarting: 0,
    maxRss: 0,
  },
  search: { embeddings: undefined },
  security: {
    allowedCommands: [],
    allowHttp: [],
    trust: 'ask',
    pin: 'warn',
    sampling: 'ask-agent',
    elicitation: 'ask-agent',
    installScripts: 'allow',
  },
};

const settingsOf = async (text: string) => (await loadGlobal(`version: "1.0"\n${text}\n`)).settings;

describe('global settings', () => {
  it.each([
    ['no file at all', undefined],
    ['an empty file', ''],
    ['a file with only a comment', '# nothing yet\n'],
    ['empty sections', 'version: "1.0"\ndaemon:\nsecurity: ~\nmcp_servers:\n'],
    ['empty values', 'version: "1.0"\ndaemon: {http: , log_level: ~}\nsecurity: {trust: }\n'],
  ])('have the specified defaults: %s', async (_, config) => {
    const loaded = await loadHerd(config === undefined ? {} : { config });
    expect(loaded.settings).toEqual(DEFAULTS);
    expect(loaded.servers).toEqual([]);
  });

  const writable = Object.entries(SETTINGS).flatMap(([section, keys]) =>
    Object.entries(keys).map(
      ([key, setting]) => [section, key, yamlOf(defaultText(setting.default))] as const,
    ),
  );

  it.each(writable.filter(([, , value]) => value !== undefined))(
    'have the default that the docs name: %s.%s',
    async (section, key, value) => {
      expect(await settingsOf(`${section}: {${key}: ${value}}`)).toEqual(DEFAULTS);
    },
  );

  it('have a default in words only where no value can be written', () => {
    const inWords = writable.filter(([, , value]) => value === undefined).map(([, key]) => key);
    expect(inWords).toEqual(['http', 'max_starting', 'max_rss', 'embeddings']);
  });

  it.each([
    [
      'daemon: {http: {listen: "127.0.0.1:8080"}}',
      { http: { host: '127.0.0.1', port: 8080, token: 'auto' } },
    ],
    [
      'daemon: {http: {listen: "localhost:1", token: none}}',
      { http: { host: 'localhost', port: 1, token: 'none' } },
    ],
    [
      'daemon: {http: {listen: "[::1]:65535", token: auto}}',
      { http: { host: '::1', port: 65_535, token: 'auto' } },
    ],
    ['daemon: {registry: "https://example.com/v0.1"}', { registry: 'https://example.com/v0.1' }],
    ['daemon: {registry: "http://localhost:5/v0.1"}', { registry: 'http://localhost:5/v0.1' }],
    ['daemon: {log_level: debug}', { logLevel: 'debug' }],
    ['daemon: {log_max_bytes: 4096}', { logMaxBytes: 4096 }],
    ['daemon: {list_wait: 0}', { listWaitMs: 0 }],
    ['daemon: {list_wait: 0.5}', { listWaitMs: 500 }],
    ['daemon: {surface: {separator: _}}', { surface: { ...SURFACE, separator: '_' } }],
    ['daemon: {surface: {separator: "-"}}', { surface: { ...SURFACE, separator: '-' } }],
    ['daemon: {surface: {}}', { surface: SURFACE }],
    [
      'daemon: {surface: {mode: search, above_tokens: 0, always: ["git.*"], result_limit: 0}}',
      { surface: { separator: '__', mode: 'search', aboveTokens: 0, always: ['git.*'], resultLimit: 0 } },
    ],
    ['daemon: {runner: plain}', { runner: 'plain' }],
    ['daemon: {update_check: 0}', { updateCheckMs: 0 }],
    ['daemon: {max_starting: 3}', { maxStarting: 3 }],
    ['daemon: {max_rss: 8589934592}', { maxRss: 8_589_934_592 }],
  ])('%s', async (text, daemon) => {
    expect(await settingsOf(text)).toEqual({ ...DEFAULTS, daemon: { ...DEFAULTS.daemon, ...daemon } });
  });

  it.each([
    ['security: {allowed_commands: [deno, bunx]}', { allowedCommands: ['deno', 'bunx'] }],
    ['security: {install_scripts: deny}', { installScripts: 'deny' }],
    ['security: {allow_http: [intra, "intra:8080"]}', { allowHttp: ['intra', 'intra:8080'] }],
    ['security: {trust: all}', { trust: 'all' }],
    ['security: {trust: ask}', { trust: 'ask' }],
    ['security: {pin: off}', { pin: 'off' }],
    ['security: {pin: enforce}', { pin: 'enforce' }],
    ['security: {sampling: deny}', { sampling: 'deny' }],
    ['security: {elicitation: deny}', { elicitation: 'deny' }],
  ])('%s', async (text, security) => {
    expect(await settingsOf(text)).toEqual({ ...DEFAULTS, security: { ...DEFAULTS.security, ...security } });
  });

  it.each(['"1.0"', '1.0', "'1.0'", '1'])('version %s is accepted', async (version) => {
    const { warnings } = await loadGlobal(`version: ${version}\n`);
    expect(warnings).toEqual([]);
  });

  it('a missing version is a warning', async () => {
    const { warnings } = await loadGlobal('mcp_servers: []\n');
    expect(warnings).toMatchObject([{ line: 1, column: 1 }]);
    expect(warnings[0]?.message).toContain("'version' is missing");
  });
});

describe('security.allowed_commands', () => {
  const config = 'version: "1.0"\nsecurity: {allowed_commands: [deno]}\n';

  it('allowed_commands of the global config apply to both files', async () => {
    const entry = 'mcp_servers:\n  - {name: g, server: s, command: deno}\n';
    const agent = stdioAgent().replace('npx', 'deno');
    const { servers } = await loadHerd({ config: config + entry, agent });
    expect(servers).toMatchObject([{ command: 'deno' }, { command: 'deno' }]);
  });

  it('does not replace the built-in commands', async () => {
    expect((await loadAgent(stdioAgent(), { config })).servers).toMatchObject([{ command: 'npx' }]);
  });
});

describe('security.allow_http', () => {
  const agent = remoteAgent('http', 'url: http://intra:8080/mcp');
  const allowing = (host: string) => `version: "1.0"\nsecurity: {allow_http: ["${host}"]}\n`;

  it.each(['intra', 'INTRA', 'intra:8080'])('%s allows plain http to http://intra:8080', async (host) => {
    expect((await loadAgent(agent, { config: allowing(host) })).servers).toHaveLength(1);
  });

  it.each(['intra:80', 'intra.example.com', 'tra', '*'])('%s does not', async (host) => {
    expect(await problemsOf({ agent, config: allowing(host) })).toMatchObject([{ path: 'tools[0].url' }]);
  });

  it('applies to plain ws too', async () => {
    const socket = remoteAgent('websocket', 'url: ws://intra/ws');
    expect((await loadAgent(socket, { config: allowing('intra') })).servers).toHaveLength(1);
  });

  it('allows no other scheme', async () => {
    const ftp = remoteAgent('http', 'url: ftp://intra/mcp');
    expect(await problemsOf({ agent: ftp, config: allowing('intra') })).toHaveLength(1);
  });
});
