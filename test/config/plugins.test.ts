import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type LoadedHerd, loadAgent, loadGlobal, problemsOf, type Setting, stdioOf } from './support.js';

/** A plugin in home/p, used by the global config. */
function ownPlugin(manifest: unknown, more = '', setting: Omit<Setting, 'config'> = {}): Promise<LoadedHerd> {
  const files = { 'home/p/plugin.json': JSON.stringify(manifest), ...setting.files };
  return loadGlobal(own(more), { ...setting, files });
}

const own = (more = '') => `version: "1.0"\nmcp_servers:\n  - {name: a, server: s, plugin_dir: p${more}}\n`;
const theirs = (more = '') => `tools:\n  - {name: a, type: mcp, server: s, plugin_dir: p${more}}\n`;
const pack = (runtime: string, command: unknown, more = {}) => ({
  packages: [{ runtime, command, ...more }],
});
const registry = (more: object) => ({
  packages: [{ registryType: 'npm', identifier: 'id', transport: { type: 'stdio' }, ...more }],
});
const argv = (loaded: LoadedHerd) => {
  const { command, args } = stdioOf(loaded);
  return [command, ...args].join(' ');
};

describe('plugin folders', () => {
  it.each([
    ['uvx', ['mcp-server-github'], 'uvx mcp-server-github'],
    ['npx', ['@scope/name', '--x'], 'npx -y @scope/name --x'],
    ['npx', ['-y', '@scope/name'], 'npx -y @scope/name'],
    ['npx', ['npx', '-y', '@scope/name'], 'npx -y @scope/name'],
    ['python', ['-m', 'server'], 'python -m server'],
    ['node', 'server.js', 'node server.js'],
    ['docker', ['image:1'], 'docker run -i --rm image:1'],
    ['docker', ['run', '-i', 'image:1'], 'docker run -i image:1'],
  ])('%s %j', async (runtime, command, wanted) => {
    const loaded = await ownPlugin(pack(runtime, command));
    expect(argv(loaded)).toBe(wanted);
    expect(stdioOf(loaded).cwd).toBe(join(loaded.home, 'p'));
  });

  it.each([
    [{ version: '1.2.3' }, 'npx -y id@1.2.3'],
    [{}, 'npx -y id'],
    [{ registryType: 'pypi', version: '1.2' }, 'uvx id==1.2'],
    [
      { registryType: 'oci', identifier: 'ghcr.io/a/b:1.0', version: '1.0' },
      'docker run -i --rm ghcr.io/a/b:1.0',
    ],
    [{ registryType: 'docker', version: '2' }, 'docker run -i --rm id:2'],
    [
      {
        packageArguments: [
          { type: 'positional', value: 'x' },
          { type: 'named', name: '--p', value: '1' },
        ],
      },
      'npx -y id x --p 1',
    ],
    [{ runtimeArguments: [{ type: 'named', name: '--quiet', value: '' }] }, 'npx -y --quiet id'],
    [
      {
        registryType: 'oci',
        identifier: 'img:1',
        runtimeArguments: ['run', '-i', '--rm', 'img:1'].map((value) => ({ type: 'positional', value })),
      },
      'docker run -i --rm img:1',
    ],
  ])("the registry's form: %j", async (more, wanted) => {
    expect(argv(await ownPlugin(registry(more)))).toBe(wanted);
  });

  it('the description of the manifest is used where the entry has none; without both there is a warning', async () => {
    const manifest = { ...pack('uvx', 'x'), description: 'of the manifest' };
    const taken = await ownPlugin(manifest);
    expect([stdioOf(taken).description, taken.warnings]).toEqual(['of the manifest', []]);
    expect(stdioOf(await ownPlugin(manifest, ', description: own')).description).toBe('own');
    for (const description of [undefined, ' ', 7]) {
      const { warnings } = await ownPlugin({ ...manifest, description });
      expect(warnings).toMatchObject([{ message: "'a' has no description" }]);
    }
  });

  it("the registry's older snake_case form is read too", async () => {
    const manifest = {
      packages: [
        {
          registry_type: 'npm',
          identifier: 'id',
          version: '1.0.0',
          transport: { type: 'stdio' },
          environment_variables: [{ name: 'TOKEN', required: true }],
        },
      ],
    };
    const loaded = await ownPlugin(manifest, ', env: {TOKEN: abcdef}');
    expect(argv(loaded)).toBe('npx -y id@1.0.0');
  });

  it('server.json is read where there is no plugin.json; manifest names another', async () => {
    const files = { 'home/p/server.json': JSON.stringify(pack('uvx', ['from-server'])) };
    expect(argv(await loadGlobal(own(), { files }))).toBe('uvx from-server');
    const named = { 'home/p/my.json': JSON.stringify(pack('uvx', ['from-mine'])), ...files };
    expect(argv(await loadGlobal(own(', manifest: my.json'), { files: named }))).toBe('uvx from-mine');
  });

  it('a manifest may have comments, trailing commas and a byte order mark', async () => {
    const text = '\uFEFF{"packages": [{"runtime": "uvx", "command": ["x"],},], /* c */ // d\n}';
    expect(argv(await loadGlobal(own(), { files: { 'home/p/plugin.json': text } }))).toBe('uvx x');
  });

  it('the runtime hint chooses among the packages', async () => {
    const manifest = {
      packages: [
        { runtime: 'uvx', command: ['u'] },
        { runtime: 'npx', command: ['n'] },
      ],
    };
    expect(argv(await ownPlugin(manifest))).toBe('uvx u');
    expect(argv(await ownPlugin(manifest, ', runtime_hint: npx'))).toBe('npx -y n');
    const files = { 'home/p/plugin.json': JSON.stringify(manifest) };
    const [problem] = await problemsOf({ config: own(', runtime_hint: docker'), files });
    expect(problem?.message).toContain("for runtime 'docker' (runtimes found: uvx, npx)");
  });

  it('packages without stdio, or without a supported runtime, are skipped', async () => {
    const manifest = {
      packages: [
        { runtime: 'uvx', command: ['x'], transport_type: 'sse' },
        { registryType: 'npm', identifier: 'x', transport: { type: 'streamable-http' } },
        { registryType: 'nuget', identifier: 'x', transport: { type: 'stdio' } },
        { runtime: 'uvx', command: ['last'] },
      ],
    };
    expect(argv(await ownPlugin(manifest))).toBe('uvx last');
  });

  it('args are added; a command replaces that of the manifest', async () => {
    const manifest = pack('uvx', ['x']);
    expect(argv(await ownPlugin(manifest, ', args: [--more]'))).toBe('uvx x --more');
    expect(argv(await ownPlugin(manifest, ', command: my-server, args: [--only]'))).toBe('my-server --only');
  });

  it('a dollar sign in a manifest stays literal', async () => {
    expect(argv(await ownPlugin(pack('uvx', ['x', '${HOME}', '$$'])))).toBe('uvx x ${HOME} $$');
  });

  it('invalid JSON in a manifest is reported with its position', async () => {
    const files = { 'home/p/plugin.json': '{\n  "packages": [,]\n}' };
    const [problem] = await problemsOf({ config: own(), files });
    expect(problem).toMatchObject({ message: 'Not valid JSON', line: 2 });
    expect(problem?.file).toMatch(/p\/plugin\.json$/);
  });
});

describe('declared variables of a plugin', () => {
  const declaring = (...variables: object[]) => pack('uvx', ['x'], { environment_variables: variables });

  it('are taken from env, envFile, the process, or their default, in this order', async () => {
    const manifest = declaring(...['A', 'B', 'C', 'D', 'E'].map((name) => ({ name, default: 'default' })));
    const setting = { files: { 'home/.env': 'A=file\nB=file\n' }, env: { A: 'p', B: 'p', C: 'process' } };
    const loaded = await ownPlugin(manifest, ', envFile: .env, env: {A: env}', setting);
    expect(stdioOf(loaded).env).toEqual({ A: 'env', B: 'file', C: 'process', D: 'default', E: 'default' });
  });

  it('a missing required one is named in the error', async () => {
    const files = { 'home/p/plugin.json': JSON.stringify(declaring({ name: 'NEEDED', required: true })) };
    const [problem] = await problemsOf({ config: own(), files });
    expect(problem).toMatchObject({
      type: 'ConfigError',
      message: "Environment variable 'NEEDED' not found",
      path: 'mcp_servers[0].plugin_dir',
    });
  });

  it('an optional one may be missing', async () => {
    expect(stdioOf(await ownPlugin(declaring({ name: 'OPTIONAL' }))).env).toEqual({});
  });

  it('reach a container by name', async () => {
    const manifest = pack('docker', ['image'], { environment_variables: [{ name: 'KEY', required: true }] });
    const loaded = await ownPlugin(manifest, '', { env: { KEY: 'abcdef' } });
    expect(argv(loaded)).toBe('docker run -e KEY -i --rm image');
  });
});

describe('the command of a plugin', () => {
  const files = (runtime: string) => ({ 'project/p/plugin.json': JSON.stringify(pack(runtime, ['x'])) });

  it.each(['npx', 'uvx', 'docker'])('%s from a project', async (runtime) => {
    expect(stdioOf(await loadAgent(theirs(), { files: files(runtime) })).command).toBe(runtime);
  });

  it.each(['python', 'node', 'bash'])('%s from a project is refused', async (runtime) => {
    const [problem] = await problemsOf({ agent: theirs(), files: files(runtime) });
    expect(problem?.message).toBe(`Invalid command '${runtime}'. Supported commands: npx, uvx, docker`);
    expect(problem?.path).toBe('tools[0].plugin_dir');
  });

  it('a custom command from a project is refused', async () => {
    const agent = theirs(', command: my-server');
    expect(await problemsOf({ agent, files: files('npx') })).toMatchObject([{ path: 'tools[0].command' }]);
  });

  it('that security.allowed_commands adds may run from a project', async () => {
    const config = 'version: "1.0"\nsecurity: {allowed_commands: [python]}\n';
    const loaded = await loadAgent(theirs(), { files: files('python'), config });
    expect(stdioOf(loaded).command).toBe('python');
  });

  it('that security.allowed_commands adds may run from the global config', async () => {
    const config = own().replace('mcp_servers', 'security: {allowed_commands: [deno]}\nmcp_servers');
    const manifest = JSON.stringify(pack('deno', ['x']));
    expect(argv(await loadGlobal(config, { files: { 'home/p/plugin.json': manifest } }))).toBe('deno x');
  });

  it('is one of five runtimes: any other is refused from the global config too', async () => {
    const [problem] = await problemsOf({
      config: own(),
      files: { 'home/p/plugin.json': JSON.stringify(pack('bash', ['-c', 'id'])) },
    });
    expect(problem?.message).toContain("Invalid command 'bash'");
  });

  it('a source document of a project follows the same rule', async () => {
    const agent = 'tools:\n  - {name: a, source_type: mcp, mcp_plugin_dir: p, mcp_command: [bash, -c, id]}\n';
    expect(await problemsOf({ agent, files: files('npx') })).toMatchObject([
      { path: 'tools[0].mcp_command' },
    ]);
    const fine = 'tools:\n  - {name: a, source_type: mcp, mcp_plugin_dir: p, mcp_args: [--more]}\n';
    const loaded = await loadAgent(fine, { files: files('npx') });
    expect(argv(loaded)).toBe('npx -y x --more');
    expect(stdioOf(loaded).lifecycle).toBe('transient');
  });
});

describe('source documents', () => {
  const source = (more: string) =>
    `version: "1.0"\nmcp_servers:\n  - {name: a, source_type: mcp, mcp_plugin_dir: p, ${more}}\n`;
  const files = { 'home/p/plugin.json': JSON.stringify(pack('uvx', ['x'])) };

  it('transient is the default, singleton can be chosen', async () => {
    const lifecycle = async (more: string) => stdioOf(await loadGlobal(source(more), { files })).lifecycle;
    expect(await lifecycle('mcp_args: []')).toBe('transient');
    expect(await lifecycle('mcp_lifecycle_mode: singleton')).toBe('singleton');
  });

  it.each([
    ['mcp_command: run-me', 'run-me'],
    ['mcp_command: [run-me, --a], mcp_args: [--b]', 'run-me --a --b'],
  ])('a custom command in the global config counts as allowed: %s', async (more, wanted) => {
    expect(argv(await loadGlobal(source(more), { files }))).toBe(wanted);
  });

  it('variables of a remote source become headers', async () => {
    const config =
      'version: "1.0"\nmcp_servers:\n  - {name: a, source_type: mcp, mcp_server_url: "https://a.b", mcp_env_vars: {MCP_HEADER_X_API_KEY: k, Authorization: t, MCP_HEADER_: e}}\n';
    const { servers } = await loadGlobal(config);
    expect(servers).toMatchObject([
      { headers: { 'X-API-KEY': 'k', Authorization: 't', 'MCP-HEADER-': 'e' }, env: {} },
    ]);
  });
});
