import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { defaultText } from '../../../src/config/fields/defaults.js';
import { FIELDS } from '../../../src/config/fields/entry-fields.js';
import type { Transport } from '../../../src/config/fields/transports.js';
import {
  HOME,
  HTTP_DEFAULTS,
  loadAgent,
  loadGlobal,
  only,
  remoteAgent,
  remoteOf,
  SSE_DEFAULTS,
  STDIO_DEFAULTS,
  stdioAgent,
  stdioConfig,
  stdioOf,
  WEBSOCKET_DEFAULTS,
  yamlOf,
} from '../support.js';

/** The specified fields, and the transports of each. */
const TABLE = {
  name: 'all',
  description: 'all',
  type: 'all',
  server: 'all',
  transport: 'all',
  command: 'stdio',
  args: 'stdio',
  env: 'all',
  envFile: 'all',
  env_file: 'all',
  encoding: 'stdio',
  cwd: 'stdio',
  url: 'sse http websocket',
  headers: 'sse http websocket',
  timeout: 'sse http websocket',
  start_timeout: 'stdio',
  sse_read_timeout: 'sse http',
  terminate_on_close: 'http',
  config: 'all',
  roots: 'all',
  load_tools: 'all',
  load_prompts: 'all',
  request_timeout: 'all',
  max_timeout: 'all',
  registry_name: 'all',
  runner: 'stdio',
  update: 'stdio',
  lifecycle: 'stdio',
  spares: 'stdio',
  sharing: 'all',
  replicas: 'all',
  start: 'all',
  idle_timeout: 'all',
  restart: 'all',
  max_restarts: 'all',
  restart_window: 'all',
  backoff: 'all',
  healthy_after: 'all',
  stop: 'stdio',
  ping: 'all',
  tools: 'all',
  max_message_bytes: 'all',
  max_in_flight: 'all',
  max_rss: 'stdio',
  result_limit: 'all',
  plugin_dir: 'stdio',
  runtime_hint: 'stdio',
  manifest: 'stdio',
  place: 'all',
  cluster: 'all',
  enabled: 'all',
};

/**
 * Every field with a default that can be written, for each of its transports. Those of the cluster belong to config.yaml:
 * test/config/read-cluster.test.ts.
 */
const WRITABLE = Object.entries(FIELDS).flatMap(([name, field]) => {
  const value = yamlOf(defaultText(field.default));
  const isDefaultOf = (transport: Transport) =>
    !(name === 'max_restarts' && transport !== 'stdio') && !(name === 'transport' && transport !== 'stdio');
  return value === undefined || field.group === 'cluster'
    ? []
    : field.for.filter(isDefaultOf).map((transport) => [name, transport, value] as const);
});

describe('the fields of an entry', () => {
  it("are those of the specification's table, each for its transports", () => {
    const ours = Object.entries(FIELDS).map(([name, field]) => [name, [...field.for].sort().join(' ')]);
    const wanted = Object.entries(TABLE).map(([name, transports]) => [
      name,
      (transports === 'all' ? 'stdio sse http websocket' : transports).split(' ').sort().join(' '),
    ]);
    expect(Object.fromEntries(ours)).toEqual(Object.fromEntries(wanted));
  });

  it.each([
    ['stdio', stdioAgent(), { ...STDIO_DEFAULTS, command: 'npx' }],
    ['sse', remoteAgent('sse'), { ...SSE_DEFAULTS, url: 'https://example.com/mcp' }],
    ['http', remoteAgent('http'), { ...HTTP_DEFAULTS, url: 'https://example.com/mcp' }],
    ['websocket', remoteAgent('websocket'), { ...WEBSOCKET_DEFAULTS, url: 'wss://example.com/ws' }],
  ])('have the specified defaults: %s', async (_, agent, wanted) => {
    const loaded = await loadAgent(agent);
    const origin = { scope: 'agent', file: loaded.agentFile, line: 2, column: 5 };
    const own = 'command' in wanted ? { cwd: loaded.project } : {};
    expect(only(loaded)).toEqual({ ...wanted, ...own, name: 'a', description: 'd', server: 's', origin });
    expect(loaded.warnings).toEqual([]);
  });

  it.each(WRITABLE)('have the default that the docs name: %s (%s)', async (name, transport, value) => {
    const agent = (...lines: string[]) =>
      transport === 'stdio' ? stdioAgent(...lines) : remoteAgent(transport, ...lines);
    const { origin: _, ...written } = only(await loadAgent(agent(`${name}: ${value}`)));
    const { origin: __, ...omitted } = only(await loadAgent(agent()));
    // Every load has its own folder, and only `cwd` depends on it.
    expect({ ...written, cwd: '' }).toEqual({ ...omitted, cwd: '' });
  });

  it('have a default in words only where no value can be written', () => {
    const inWords = Object.entries(FIELDS).filter(
      ([, field]) => yamlOf(defaultText(field.default)) === undefined,
    );
    expect(Object.fromEntries(inWords.map(([name, field]) => [name, defaultText(field.default)]))).toEqual({
      name: 'required',
      description: 'none',
      type: 'none',
      server: 'required',
      command: 'required',
      envFile: 'none',
      env_file: 'none',
      cwd: 'the folder of the file',
      url: 'required',
      config: 'none',
      registry_name: 'none',
      max_rss: 'no limit',
      runner: 'as daemon.runner',
      result_limit: 'no limit',
      plugin_dir: 'none',
      runtime_hint: 'none',
      manifest: 'plugin.json or server.json',
    });
  });

  it.each([
    ['args: [a, "--b=c", "-"]', { args: ['a', '--b=c', '-'] }],
    ['encoding: Shift-JIS', { encoding: 'shift_jis' }],
    ['encoding: latin1', { encoding: 'windows-1252' }],
    ['encoding: UTF-16', { encoding: 'utf-16le' }],
    ['start_timeout: 0.25', { startTimeoutMs: 250 }],
    ['lifecycle: transient', { lifecycle: 'transient', spares: 0 }],
    ['stop: {close: 0}', { stop: { closeMs: 0, termMs: 5000 } }],
    ['stop: {term: 1.5}', { stop: { closeMs: 2000, termMs: 1500 } }],
    ['runner: plain', { runner: 'plain' }],
    ['update: manual', { update: 'manual' }],
    ['max_rss: 1000000000', { maxRss: 1_000_000_000 }],
    ['transport: stdio', { transport: 'stdio' }],
    ['transport: {type: stdio}', { transport: 'stdio' }],
    ['env: {A: b, C: ""}', { env: { A: 'b', C: '' } }],
    ['config: {a: 1, b: [true, null, {c: 1.5}]}', { config: { a: 1, b: [true, null, { c: 1.5 }] } }],
    ['load_tools: false', { loadTools: false, loadPrompts: true }],
    ['load_prompts: false', { loadTools: true, loadPrompts: false }],
    ['request_timeout: 1', { requestTimeoutMs: 1000, maxTimeoutMs: 600_000 }],
    ['request_timeout: 60.0', { requestTimeoutMs: 60_000 }],
    ['request_timeout: 900', { requestTimeoutMs: 900_000, maxTimeoutMs: 900_000 }],
    ['max_timeout: 60', { requestTimeoutMs: 60_000, maxTimeoutMs: 60_000 }],
    ['registry_name: io.github.user/server-name', { registryName: 'io.github.user/server-name' }],
    ['sharing: per-agent', { sharing: 'per-agent' }],
    ['replicas: 3', { replicas: 3 }],
    ['start: eager', { start: 'eager' }],
    ['idle_timeout: 90', { idleTimeoutMs: 90_000 }],
    ['idle_timeout: 0', { idleTimeoutMs: 0 }],
    ['restart: always', { restart: 'always' }],
    ['restart: never', { restart: 'never' }],
    ['max_restarts: 0', { maxRestarts: 0 }],
    ['restart_window: 120', { restartWindowMs: 120_000 }],
    ['backoff: {max: 10}', { backoff: { minMs: 500, maxMs: 10_000, factor: 2, jitter: 0.2 } }],
    [
      'backoff: {min: 0.1, max: 1, factor: 1.5, jitter: 0}',
      { backoff: { minMs: 100, maxMs: 1000, factor: 1.5, jitter: 0 } },
    ],
    ['healthy_after: 5', { healthyAfterMs: 5000 }],
    ['ping: {interval: 0}', { ping: { intervalMs: 0, timeoutMs: 10_000 } }],
    ['ping: {timeout: 3}', { ping: { intervalMs: 15_000, timeoutMs: 3000 } }],
    ['tools: {allow: ["read_*"]}', { tools: { allow: ['read_*'], deny: [] } }],
    ['tools: {deny: ["*"]}', { tools: { allow: ['*'], deny: ['*'] } }],
    ['max_message_bytes: 1048576', { maxMessageBytes: 1_048_576 }],
    ['max_in_flight: 1', { maxInFlight: 1 }],
    ['result_limit: 20000', { resultLimit: 20_000 }],
    ['enabled: true', { enabled: true }],
  ])('reach the spec: %s', async (line, wanted) => {
    expect(only(await loadAgent(stdioAgent(line)))).toMatchObject(wanted);
  });

  it.each([
    ['sse', 'timeout: 5', { timeoutMs: 5000 }],
    ['websocket', 'timeout: 0.5', { timeoutMs: 500 }],
    ['sse', 'sse_read_timeout: 10', { sseReadTimeoutMs: 10_000 }],
    ['http', 'sse_read_timeout: 10', { sseReadTimeoutMs: 10_000 }],
    ['http', 'terminate_on_close: false', { terminateOnClose: false }],
    ['websocket', 'headers: {X-A: b}', { headers: { 'X-A': 'b' } }],
    ['http', 'url: http://localhost:8080/mcp', { url: 'http://localhost:8080/mcp' }],
    ['http', 'url: http://127.0.0.1/mcp', { url: 'http://127.0.0.1/mcp' }],
    ['sse', 'url: "http://[::1]:9/sse"', { url: 'http://[::1]:9/sse' }],
    ['websocket', 'url: ws://localhost:1/ws', { url: 'ws://localhost:1/ws' }],
    ['http', 'env: {A: b}', { env: { A: 'b' } }],
    ['http', 'ping: {interval: 1}', { ping: { intervalMs: 1000, timeoutMs: 10_000 } }],
    ['sse', 'replicas: 2', { replicas: 2 }],
  ] as const)('reach the spec of a remote server: %s %s', async (transport, line, wanted) => {
    expect(only(await loadAgent(remoteAgent(transport, line)))).toMatchObject(wanted);
  });

  it('spares stay ready for a transient server', async () => {
    expect(only(await loadAgent(stdioAgent('lifecycle: transient', 'spares: 2')))).toMatchObject({
      spares: 2,
    });
  });

  it('a field that is left empty counts as absent', async () => {
    const lines = ['args:', 'env:', 'config: ~', 'request_timeout: null', 'enabled:', 'transport:'];
    const loaded = await loadAgent(stdioAgent(...lines));
    expect(only(loaded)).toMatchObject({ args: [], env: {}, requestTimeoutMs: 60_000, enabled: true });
  });

  it('a missing description is a warning with a position', async () => {
    const { warnings, agentFile } = await loadAgent(stdioAgent().replace(/ +description.*\n/, ''));
    expect(warnings).toMatchObject([
      { message: "'a' has no description", file: agentFile, line: 2, column: 5 },
    ]);
  });
});

describe('transports by their other names', () => {
  it.each(['http', 'streamable_http', 'streamable-http', '{type: http}', '{type: streamable-http}'])(
    '%s is http',
    async (name) => {
      const agent = remoteAgent('http').replace('transport: http', `transport: ${name}`);
      expect(only(await loadAgent(agent))).toMatchObject({ transport: 'http', terminateOnClose: true });
    },
  );

  it.each(['sse', 'websocket'] as const)('{type: %s} is the nested form', async (name) => {
    const agent = remoteAgent(name).replace(`transport: ${name}`, `transport:\n      type: ${name}`);
    expect(only(await loadAgent(agent))).toMatchObject({ transport: name });
  });
});

describe('paths start from the folder of the file', () => {
  it('args that begin with ./, whatever cwd is; others stay as they are written', async () => {
    const others = ['-y', 'a/./b', '--dir=./x', '.', '..', '../shared'];
    for (const cwd of ['cwd: sub', 'cwd: .']) {
      const loaded = await loadAgent(stdioAgent(`args: ${JSON.stringify(['./server.js', ...others])}`, cwd));
      expect(stdioOf(loaded).args).toEqual([join(loaded.project, 'server.js'), ...others]);
    }
  });

  it('cwd; the default is the folder itself', async () => {
    const inside = await loadAgent(stdioAgent('cwd: sub/folder'));
    expect(stdioOf(inside).cwd).toBe(join(inside.project, 'sub/folder'));
    expect(stdioOf(await loadAgent(stdioAgent('cwd: /var'))).cwd).toBe('/var');
    expect(stdioOf(await loadAgent(stdioAgent('cwd: "${userHome}/x"'))).cwd).toBe(join(HOME, 'x'));
    const global = await loadGlobal(stdioConfig());
    expect(stdioOf(global).cwd).toBe(global.home);
  });

  it('roots and config.allowed_directories become file URIs, each once (FR-011)', async () => {
    const loaded = await loadAgent(
      stdioAgent(
        'roots: [data, "file:///srv/x%20y", "${workspaceFolder}", /]',
        'config: {allowed_directories: [data, /tmp/more]}',
      ),
    );
    expect(only(loaded).roots).toEqual([
      { uri: pathToFileURL(join(loaded.project, 'data')).href, name: 'data' },
      { uri: 'file:///srv/x%20y', name: 'x y' },
      { uri: pathToFileURL(loaded.project).href, name: 'project' },
      { uri: 'file:///', name: '/' },
      { uri: 'file:///tmp/more', name: 'more' },
    ]);
    expect(only(loaded).config).toEqual({ allowed_directories: ['data', '/tmp/more'] });
  });

  it('allowed_directories of another shape is passed on and adds no roots', async () => {
    const loaded = await loadAgent(stdioAgent('config: {allowed_directories: {a: b}}'));
    expect(only(loaded)).toMatchObject({ config: { allowed_directories: { a: 'b' } }, roots: [] });
  });
});

describe('FR-009 US2.3: envFile', () => {
  it.each(['envFile', 'env_file'])(
    '%s is read from the folder of the file, and env overrides it',
    async (field) => {
      const files = { 'project/conf/.env': 'A=from-file\nB="two words"\n# C=no\nexport D=4\n' };
      const loaded = await loadAgent(stdioAgent(`${field}: conf/.env`, 'env: {A: from-env}'), { files });
      expect(only(loaded).env).toEqual({ A: 'from-env', B: 'two words', D: '4' });
    },
  );

  it('is never expanded and never run', async () => {
    const files = { 'project/.env': "A=${HOME}\nB=$(id)\nD='$X'\n" };
    const loaded = await loadAgent(stdioAgent('envFile: .env'), { files, env: { HOME: '/h', X: 'x' } });
    expect(only(loaded).env).toEqual({ A: '${HOME}', B: '$(id)', D: '$X' });
  });

  it('a remote server can have one too', async () => {
    const files = { 'project/.env': 'TOKEN=abcdef\n' };
    const agent = remoteAgent('http', 'envFile: .env', 'headers: {Authorization: "Bearer ${TOKEN}"}');
    expect(remoteOf(await loadAgent(agent, { files })).headers).toEqual({ Authorization: 'Bearer abcdef' });
  });
});

describe('docker run', () => {
  const argsOf = async (...lines: string[]) =>
    stdioOf(
      await loadAgent(stdioAgent(...lines).replace('npx', 'docker'), { env: { TOKEN: 'a-secret-value' } }),
    ).args;

  it('each declared name is added once, without its value', async () => {
    const args = await argsOf('args: [run, -i, --rm, image]', 'env: {TOKEN: "${TOKEN}", B: c}');
    expect(args).toEqual(['run', '-e', 'TOKEN', '-e', 'B', '-i', '--rm', 'image']);
  });

  it('a name that args already pass is not added again', async () => {
    const lines = [
      'args: [run, -e, A, --env, B=1, "--env=C", -eD, image]',
      'env: {A: a, B: b, C: c, D: d, E: e}',
    ];
    expect(await argsOf(...lines)).toEqual([
      'run',
      '-e',
      'E',
      '-e',
      'A',
      '--env',
      'B=1',
      '--env=C',
      '-eD',
      'image',
    ]);
  });

  it('the config reaches the container as MCP_CONFIG', async () => {
    expect(await argsOf('args: [run, image]', 'config: {a: 1}')).toEqual([
      'run',
      '-e',
      'MCP_CONFIG',
      'image',
    ]);
  });

  it('other docker commands stay unchanged', async () => {
    expect(await argsOf('args: [start, -i, box]', 'env: {A: b}')).toEqual(['start', '-i', 'box']);
  });
});
