import { describe, expect, it } from 'vitest';
import {
  loadAgent,
  loadGlobal,
  loadHerd,
  makeHerd,
  only,
  problemsOf,
  refusalOf,
  remoteAgent,
  stdioAgent,
  stdioOf,
} from './support.js';

const global = (...entries: string[]) =>
  `version: "1.0"\nmcp_servers:\n${entries.map((entry) => `  - ${entry}\n`).join('')}`;
const tools = (...entries: string[]) => `tools:\n${entries.map((entry) => `  - ${entry}\n`).join('')}`;

describe('two files make one herd', () => {
  it('it has the entries of both, those of the global config first', async () => {
    const { servers } = await loadHerd({
      config: global('{name: g, server: s, command: npx}'),
      agent: tools('{name: a, type: mcp, server: s, command: uvx}'),
    });
    expect(servers).toMatchObject([
      { name: 'g', origin: { scope: 'global', line: 3, column: 5 } },
      { name: 'a', origin: { scope: 'agent', line: 2, column: 5 } },
    ]);
  });

  it('an agent entry replaces the global one of its name, whole', async () => {
    const loaded = await loadHerd({
      config: global(
        '{name: a, server: old, command: npx, args: [old], env: {OLD: "1"}, request_timeout: 5}',
      ),
      agent: tools('{name: a, type: mcp, server: new, transport: http, url: "https://a.b"}'),
    });
    expect(only(loaded)).toMatchObject({
      server: 'new',
      transport: 'http',
      env: {},
      requestTimeoutMs: 60_000,
    });
  });

  it('a replaced global entry need not resolve', async () => {
    const loaded = await loadHerd({
      config: global('{name: a, server: s, command: npx, env: {A: "${NOPE}"}}'),
      agent: tools('{name: a, type: mcp, server: s, command: npx}'),
    });
    expect(only(loaded).env).toEqual({});
  });

  it('a disabled agent entry disables the global one', async () => {
    const loaded = await loadHerd({
      config: global('{name: a, server: s, command: npx}'),
      agent: tools('{name: a, type: mcp, server: s, command: npx, enabled: false}'),
    });
    expect(only(loaded)).toMatchObject({ enabled: false, origin: { scope: 'agent' } });
  });

  it('a missing global config is an empty one; a missing one that was named explicitly is an error', async () => {
    const herd = makeHerd({ agent: stdioAgent() });
    expect((await herd.load()).servers).toHaveLength(1);
    const { problems } = await refusalOf(herd.load({ configRequired: true }));
    expect(problems).toMatchObject([
      { file: herd.configFile, message: expect.stringContaining('does not exist') },
    ]);
  });

  it('a missing agent file is an error', async () => {
    const herd = makeHerd({});
    const { problems } = await refusalOf(herd.load({ agentFile: herd.agentFile }));
    expect(problems).toMatchObject([
      { file: herd.agentFile, message: expect.stringContaining('does not exist') },
    ]);
  });
});

describe('content of other programs in agent.yaml', () => {
  it('entries of other types are ignored', async () => {
    const agent = tools(
      '{name: v, type: vectorstore, source: data/, top_k: "${NOPE}"}',
      '{name: f, type: function, command: bash, file: x.py}',
      '{name: p, type: prompt, server: "", env: 5}',
      '{name: api, type: openapi, source_type: http, url: "http://example.com"}',
      'just a text',
      '[a, list]',
      '~',
      '5',
    );
    const loaded = await loadAgent(agent);
    expect(loaded.servers).toEqual([]);
    expect(loaded.warnings).toEqual([]);
  });

  it('a source of another type is ignored too', async () => {
    const agent = tools('{name: api, source_type: openapi, url: "http://example.com"}');
    expect((await loadAgent(agent)).servers).toEqual([]);
  });

  it('an entry of another type may have the name of an MCP server', async () => {
    const agent = tools('{name: a, type: prompt}', '{name: a, type: mcp, server: s, command: npx}');
    expect((await loadAgent(agent)).servers).toHaveLength(1);
  });

  it.each(['MCP', '"mcp "', 'Mcp'])('an entry with type: %s is ignored with a warning', async (type) => {
    const { servers, warnings } = await loadAgent(stdioAgent().replace('type: mcp', `type: ${type}`));
    expect(servers).toEqual([]);
    expect(warnings).toMatchObject([
      { path: 'tools[0].type', line: 4, message: expect.stringContaining("not 'mcp'") },
    ]);
  });

  it('an entry with a server but no type is ignored with a warning', async () => {
    const { servers, warnings } = await loadAgent(tools('{name: a, server: s, command: npx}'));
    expect(servers).toEqual([]);
    expect(warnings).toMatchObject([{ path: 'tools[0]', line: 2, column: 5 }]);
    expect(warnings[0]?.fix).toContain('type: mcp');
  });

  it('top-level keys other than tools are ignored', async () => {
    const agent = `name: my-agent\nmodel: {provider: x}\nversion: 9\nsecurity: {trust: all}\n${stdioAgent()}`;
    expect((await loadAgent(agent)).servers).toHaveLength(1);
  });

  it.each(['', '# nothing\n', 'tools:\n', 'tools: []\n', 'name: x\n', '---\n'])(
    '%j is an empty herd',
    async (text) => {
      expect((await loadAgent(text)).servers).toEqual([]);
    },
  );
});

describe('names in one file', () => {
  const manual = '{name: fs, description: d, type: mcp, server: mine, command: npx}';
  const registry =
    '{name: fs, description: d, type: mcp, server: theirs, command: npx, registry_name: io.github.alice/fs}';

  it.each([
    ['before', [manual, registry]],
    ['after', [registry, manual]],
  ])('a manual entry beats a registry entry of its name, with a warning: %s it', async (_, entries) => {
    const loaded = await loadAgent(tools(...entries));
    expect(only(loaded).server).toBe('mine');
    expect(loaded.warnings).toHaveLength(1);
    expect(loaded.warnings[0]).toMatchObject({ line: entries.indexOf(registry) + 2 });
    expect(loaded.warnings[0]?.message).toContain('io.github.alice/fs');
  });

  it('different registry servers under different names are no duplicates', async () => {
    const other = registry.replace('name: fs', 'name: fs2').replace('alice', 'bob');
    expect((await loadAgent(tools(registry, other))).servers).toHaveLength(2);
  });

  it('two manual entries and a registry entry of one name: the duplicate is still an error', async () => {
    expect(await problemsOf({ agent: tools(registry, manual, manual) })).toMatchObject([
      { path: 'tools[2].name' },
    ]);
  });

  it('names of Object.prototype properties are ordinary names', async () => {
    const names = ['__proto__', 'constructor', 'toString'];
    const entries = names.map((name) => `{name: ${name}, type: mcp, server: s, command: npx}`);
    const { servers } = await loadAgent(tools(...entries));
    expect(servers.map(({ name }) => name)).toEqual(names);
  });
});

describe('disabled entries', () => {
  it('nothing in them is expanded or read', async () => {
    const agent = stdioAgent(
      'enabled: false',
      'env: {A: "${NOPE}"}',
      'args: ["${NOPE}", ./x]',
      'envFile: missing.env',
      'cwd: "${NOPE}"',
      'config: {allowed_directories: ["${NOPE}"]}',
    );
    const loaded = await loadAgent(agent);
    expect(stdioOf(loaded)).toMatchObject({
      enabled: false,
      env: { A: '${NOPE}' },
      args: ['${NOPE}', './x'],
      roots: [],
    });
    expect(loaded.uses).toEqual([]);
  });

  it('the plugin that they name need not exist', async () => {
    const agent = stdioAgent('enabled: false', 'plugin_dir: nowhere').replace(/ +command.*\n/, '');
    expect(only(await loadAgent(agent)).enabled).toBe(false);
  });

  it('remote ones keep their url and headers as written', async () => {
    const agent = remoteAgent(
      'http',
      'url: "https://${HOST}/x"',
      'headers: {A: "${NOPE}"}',
      'enabled: false',
    );
    expect(only(await loadAgent(agent))).toMatchObject({
      url: 'https://${HOST}/x',
      headers: { A: '${NOPE}' },
    });
  });

  it('their shape is checked', async () => {
    const agent = stdioAgent('enabled: false', 'request_timeout: 0', 'zebra: 1');
    expect(await problemsOf({ agent })).toHaveLength(2);
  });
});

describe('legacy entries', () => {
  it('further args follow the package', async () => {
    const agent = tools('{name: a, type: mcp, server: "@scope/name", args: [--flag]}');
    expect(stdioOf(await loadAgent(agent)).args).toEqual(['-y', '@scope/name', '--flag']);
  });

  it('an entry with a transport is not a legacy entry', async () => {
    const agent = tools('{name: a, type: mcp, server: "@scope/name", transport: stdio}');
    expect(await problemsOf({ agent })).toMatchObject([
      { message: "'command' is required for stdio transport" },
    ]);
  });

  it.each(['name', 'scope/name', '@scope', '@scope/', '@scope/a/b', './local'])(
    '%s is not a legacy server',
    async (server) => {
      const agent = tools(`{name: a, type: mcp, server: "${server}"}`);
      expect(await problemsOf({ agent })).toMatchObject([
        { message: "'command' is required for stdio transport" },
      ]);
    },
  );

  it('they may be in the global config', async () => {
    expect(stdioOf(await loadGlobal(global('{name: a, server: "@scope/name"}')))).toMatchObject({
      command: 'npx',
      args: ['-y', '@scope/name'],
    });
  });
});

describe('anchors and merge keys', () => {
  it('are resolved', async () => {
    const agent = `base: &base {type: mcp, server: s, command: npx, env: &env {A: "1"}}
tools:
  - {<<: *base, name: a}
  - {<<: *base, name: b, env: {<<: *env, B: "2"}}
`;
    const { servers } = await loadAgent(agent);
    expect(servers).toMatchObject([
      { name: 'a', env: { A: '1' } },
      { name: 'b', env: { A: '1', B: '2' } },
    ]);
  });
});
