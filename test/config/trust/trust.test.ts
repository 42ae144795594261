import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AgentFileNotAllowedError, TrustStore } from '../../../src/config/trust/trust.js';
import { ToolherdError } from '../../../src/shared/errors.js';
import {
  addFile,
  allow,
  type Herd,
  loadAgent,
  loadGlobal,
  makeHerd,
  only,
  problemsOf,
  refusalOf,
  remoteAgent,
  type Setting,
  stdioAgent,
  stdioConfig,
  trustRefusalOf,
} from '../support.js';

/** Loads as the daemon does, with trust checked. */
const load = (herd: Herd, agentFile = herd.agentFile) => herd.load({ trustFile: herd.trustFile, agentFile });

/** A herd whose agent file the user has allowed as it is now. */
async function allowed(setting: Setting): Promise<Herd> {
  const herd = makeHerd(setting);
  await allow(herd);
  expect((await load(herd)).servers.length).toBeGreaterThan(0);
  return herd;
}

const MANIFEST = JSON.stringify({ packages: [{ runtime: 'npx', command: ['x'] }] });
const PLUGIN = stdioAgent('plugin_dir: p').replace(/ +command.*\n/, '');

describe('X3: two changes of the list at once', () => {
  it('both are kept, in one process and in several', async () => {
    const herd = await allowed({ agent: stdioAgent() });
    const [first, second] = [new TrustStore(herd.trustFile), new TrustStore(herd.trustFile)];
    const other = join(herd.project, 'other.yaml');
    const record = { sha256: '0', manifests: {}, envNames: {} };
    await Promise.all([first.allow(other, record), second.revoke(herd.agentFile)]);
    const now = new TrustStore(herd.trustFile);
    expect([now.has(other), now.has(herd.agentFile)]).toEqual([true, false]);
  });
});

describe('X3: a file that was never allowed', () => {
  it('is refused, and its commands are shown as written', async () => {
    const agent = `${stdioAgent('args: [-y, "${THING}"]', 'env: {B: "1", A: "${NOPE}"}', 'envFile: .env', 'cwd: "${NOPE}"')}  - {name: r, type: mcp, server: s, transport: http, url: "https://\${HOST}/mcp"}
  - {name: off, type: mcp, server: s, command: uvx, enabled: false}
`;
    const herd = makeHerd({ agent });
    const error = await trustRefusalOf(load(herd));
    expect(error).toMatchObject({ type: 'TrustRequiredError', file: herd.agentFile });
    expect(error.message).toBe(`${herd.agentFile} was never allowed to run`);
    expect(error.fix).toContain(`toolherd allow ${herd.agentFile}`);
    expect(error.wouldRun).toEqual([
      {
        name: 'a',
        transport: 'stdio',
        run: ['npx', '-y', '${THING}'],
        cwd: '${NOPE}',
        env: expect.arrayContaining(['A', 'B']),
        variables: ['NOPE', 'THING'],
        envFile: '.env',
      },
      expect.objectContaining({ name: 'r', transport: 'http', url: 'https://${HOST}/mcp' }),
    ]);
  });

  it('a plugin shows what its manifest would run, and where', async () => {
    const herd = makeHerd({ agent: PLUGIN, files: { 'project/p/plugin.json': MANIFEST } });
    const { wouldRun } = await trustRefusalOf(load(herd));
    expect(wouldRun).toMatchObject([{ run: ['npx', '-y', 'x'], cwd: join(herd.project, 'p') }]);
  });

  it('nothing in it is expanded: unset variables are not reported', async () => {
    const herd = makeHerd({ agent: stdioAgent('args: ["${NOPE}"]', 'config: {a: "${NOPE}"}') });
    await trustRefusalOf(load(herd));
  });

  it.each([
    ['missing', () => {}],
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['full of refused names', (path: string) => writeFileSync(path, 'PATH=/evil\n')],
    ['a link out of the project', (path: string) => symlinkSync('/etc/hostname', path)],
  ])('its envFile is not read: %s', async (_, make) => {
    const herd = makeHerd({ agent: stdioAgent('envFile: .env') });
    make(join(herd.project, '.env'));
    await trustRefusalOf(load(herd));
  });

  it('is not expanded when it is broken either', async () => {
    const herd = makeHerd({ agent: stdioAgent('timeout: 5', 'args: ["${NOPE}"]', 'envFile: missing') });
    const { problems } = await refusalOf(load(herd));
    expect(problems).toMatchObject([{ path: 'tools[0].timeout' }]);
  });

  it('the problems of the global config are shown before it', async () => {
    const herd = makeHerd({
      agent: stdioAgent(),
      config: stdioConfig('args: ["${NOPE}"]').replace('name: a', 'name: g'),
    });
    expect((await refusalOf(load(herd))).problems).toMatchObject([{ file: herd.configFile }]);
  });

  it('a file that would run nothing needs no allow', async () => {
    for (const agent of [
      'tools: []\n',
      'tools:\n  - {name: x, type: prompt}\n',
      stdioAgent('enabled: false'),
    ]) {
      await load(makeHerd({ agent }));
    }
  });

  it('validate, which has no trust file, does not check trust', async () => {
    expect((await loadAgent(stdioAgent())).servers).toHaveLength(1);
  });
});

describe('X3: a file that was allowed', () => {
  it('loads, and stays allowed', async () => {
    const herd = await allowed({ agent: stdioAgent('args: ["${V}"]'), env: { V: 'value' } });
    expect(only(await load(herd))).toMatchObject({ args: ['value'] });
    expect(only(await load(herd))).toMatchObject({ args: ['value'] });
  });

  it.each([
    ['a comment more', (text: string) => `${text}#\n`],
    ['a space more', (text: string) => text.replace('name: a', 'name:  a')],
    ['a byte changed', (text: string) => text.replace('description: d', 'description: e')],
    ['a byte less', (text: string) => text.slice(0, -1)],
    ['another command', (text: string) => text.replace('npx', 'uvx')],
  ])('must be allowed again after a change: %s', async (_, change) => {
    const agent = stdioAgent();
    const herd = await allowed({ agent });
    writeFileSync(herd.agentFile, change(agent));
    const error = await trustRefusalOf(load(herd));
    expect(error.message).toBe(`${herd.agentFile} has changed since it was allowed`);
    await allow(herd);
    await load(herd);
  });

  it('the same bytes are allowed again when they are restored', async () => {
    const agent = stdioAgent();
    const herd = await allowed({ agent });
    writeFileSync(herd.agentFile, `${agent}#`);
    await trustRefusalOf(load(herd));
    writeFileSync(herd.agentFile, agent);
    await load(herd);
  });

  it('must be allowed again when its manifest changes', async () => {
    const herd = await allowed({ agent: PLUGIN, files: { 'project/p/plugin.json': MANIFEST } });
    addFile(join(herd.project, 'p/plugin.json'), MANIFEST.replace('"x"', '"evil"'));
    const { wouldRun } = await trustRefusalOf(load(herd));
    expect(wouldRun).toMatchObject([{ run: ['npx', '-y', 'evil'] }]);
  });

  it('must be allowed again when another manifest takes its place', async () => {
    const herd = await allowed({ agent: PLUGIN, files: { 'project/p/server.json': MANIFEST } });
    copyFileSync(join(herd.project, 'p/server.json'), join(herd.project, 'p/plugin.json'));
    await trustRefusalOf(load(herd));
  });

  it.each(['.env', 'constructor', '__proto__', 'toString'])(
    'must be allowed again when its envFile %s gets a new name, or loses one',
    async (name) => {
      const files = { [`project/${name}`]: 'A=1\nB=2\n' };
      const herd = await allowed({ agent: stdioAgent(`envFile: ${name}`), files });
      addFile(join(herd.project, name), 'A=1\nB=2\nEXTRA=3\n');
      await trustRefusalOf(load(herd));
      addFile(join(herd.project, name), 'A=1\n');
      await trustRefusalOf(load(herd));
    },
  );

  it('stays allowed when a value in its envFile changes: tokens rotate', async () => {
    const herd = await allowed({
      agent: stdioAgent('envFile: .env'),
      files: { 'project/.env': 'A=1\nB=2\n' },
    });
    addFile(join(herd.project, '.env'), '# rotated\nB=two\nA=one\n');
    expect(only(await load(herd)).env).toEqual({ A: 'one', B: 'two' });
  });

  it('must be allowed again when a missing envFile appears', async () => {
    const herd = makeHerd({ agent: stdioAgent('envFile: .env') });
    const store = new TrustStore(herd.trustFile);
    addFile(join(herd.project, '.env'), '');
    await allow(herd);
    rmSync(join(herd.project, '.env'));
    await refusalOf(load(herd));
    addFile(join(herd.project, '.env'), 'NODE_EXTRA=1\n');
    await trustRefusalOf(load(herd));
    expect(await store.revoke(herd.agentFile)).toBe(true);
  });

  it('names in the envFile of a disabled entry do not matter', async () => {
    const agent = `${stdioAgent()}  - {name: off, type: mcp, server: s, command: npx, enabled: false, envFile: .env}\n`;
    const herd = await allowed({ agent, files: { 'project/.env': 'A=1\n' } });
    addFile(join(herd.project, '.env'), 'A=1\nB=2\n');
    await load(herd);
  });

  it('can be revoked, once', async () => {
    const herd = await allowed({ agent: stdioAgent() });
    const store = new TrustStore(herd.trustFile);
    expect(await store.revoke(herd.agentFile)).toBe(true);
    expect(await store.revoke(herd.agentFile)).toBe(false);
    await trustRefusalOf(load(herd));
  });

  it('can be revoked after it was deleted', async () => {
    const herd = await allowed({ agent: stdioAgent() });
    rmSync(herd.agentFile);
    expect(await new TrustStore(herd.trustFile).revoke(herd.agentFile)).toBe(true);
  });
});

describe('X3: the permission belongs to one path', () => {
  it('the same bytes in another project are not allowed', async () => {
    const herd = await allowed({ agent: stdioAgent() });
    const copy = addFile(join(herd.folder, 'other/agent.yaml'), stdioAgent());
    await trustRefusalOf(load(herd, copy));
  });

  it('a link to an allowed file is not allowed, since it runs in the folder of the link', async () => {
    const herd = await allowed({ agent: stdioAgent('args: [./server.js]') });
    const evil = join(herd.folder, 'evil');
    mkdirSync(evil);
    symlinkSync('../project/agent.yaml', join(evil, 'agent.yaml'));
    const { wouldRun } = await trustRefusalOf(load(herd, join(evil, 'agent.yaml')));
    expect(wouldRun).toMatchObject([{ cwd: evil }]);
  });

  it('a link can be allowed separately from its target', async () => {
    const herd = await allowed({ agent: stdioAgent() });
    const link = join(herd.folder, 'linked', 'agent.yaml');
    mkdirSync(join(herd.folder, 'linked'));
    symlinkSync('../project/agent.yaml', link);
    await allow(herd, link);
    await load(herd, link);
    await load(herd);
  });

  it('a path through a link to the folder is the same path', async () => {
    const herd = await allowed({ agent: stdioAgent() });
    symlinkSync('project', join(herd.folder, 'shortcut'));
    expect((await load(herd, join(herd.folder, 'shortcut/agent.yaml'))).servers).toHaveLength(1);
  });

  it('a moved file is not allowed at its new path', async () => {
    const herd = await allowed({ agent: stdioAgent() });
    renameSync(herd.project, join(herd.folder, 'moved'));
    await trustRefusalOf(load(herd, join(herd.folder, 'moved/agent.yaml')));
  });
});

describe('files that need no allow', () => {
  it('security.trust: all counts every file as allowed', async () => {
    const herd = makeHerd({ agent: stdioAgent(), config: 'version: "1.0"\nsecurity: {trust: all}\n' });
    expect((await load(herd)).servers).toHaveLength(1);
  });

  it('an agent file cannot set security.trust', async () => {
    await trustRefusalOf(load(makeHerd({ agent: `security: {trust: all}\n${stdioAgent()}` })));
  });

  it("a file beside the user's config.yaml, also through a link to that folder", async () => {
    const herd = makeHerd({});
    const file = addFile(join(herd.home, 'agent.yaml'), stdioAgent('env: {PATH: /opt/bin}'));
    expect((await load(herd, file)).servers).toHaveLength(1);
    symlinkSync('home', join(herd.folder, 'shortcut'));
    expect((await load(herd, join(herd.folder, 'shortcut/agent.yaml'))).servers).toHaveLength(1);
    const userFolder = join(herd.folder, 'shortcut');
    expect(
      (await herd.load({ trustFile: herd.trustFile, agentFile: file, userFolder })).servers,
    ).toHaveLength(1);
  });

  it.each(['state/results/x.txt', 'cache/x.yaml', 'run/agent.yaml', 'agents/one/agent.yaml'])(
    'a file in a subfolder is not user-owned: %s',
    async (path) => {
      const herd = makeHerd({});
      await trustRefusalOf(load(herd, addFile(join(herd.home, path), stdioAgent())));
    },
  );

  it('a link there to a file elsewhere is not user-owned, nor is a link elsewhere to a file there', async () => {
    const herd = makeHerd({ agent: stdioAgent() });
    const own = addFile(join(herd.home, 'own.yaml'), stdioAgent());
    symlinkSync(herd.agentFile, join(herd.home, 'agent.yaml'));
    symlinkSync(own, join(herd.project, 'linked.yaml'));
    await trustRefusalOf(load(herd, join(herd.home, 'agent.yaml')));
    await trustRefusalOf(load(herd, join(herd.project, 'linked.yaml')));
  });

  it('a folder that is linked from there is not user-owned', async () => {
    const herd = makeHerd({ agent: stdioAgent() });
    symlinkSync(herd.project, join(herd.home, 'linked'));
    await trustRefusalOf(load(herd, join(herd.home, 'linked/agent.yaml')));
  });

  it('a folder with the same name prefix is not user-owned', async () => {
    const herd = makeHerd({});
    await trustRefusalOf(load(herd, addFile(join(herd.folder, 'home-evil/agent.yaml'), stdioAgent())));
  });
});

describe('the trust file', () => {
  it('can be read by its user only', async () => {
    const herd = await allowed({ agent: stdioAgent() });
    expect(statSync(herd.trustFile).mode & 0o777).toBe(0o600);
    expect(statSync(join(herd.trustFile, '..')).mode & 0o777).toBe(0o700);
  });

  it.each(['', '{', '[]', '{"version": 1}', '{"files": []}', 'null'])(
    'damaged (%j): nothing is allowed',
    async (text) => {
      const herd = await allowed({ agent: stdioAgent() });
      writeFileSync(herd.trustFile, text);
      await expect(load(herd)).rejects.toThrow(ToolherdError);
    },
  );

  it.each(['true', '"yes"', '1', '[]', '{}', 'null'])(
    'a pin of another shape (%s): nothing is allowed',
    async (pin) => {
      const herd = await allowed({ agent: stdioAgent() });
      writeFileSync(herd.trustFile, `{"version": 1, "files": {${JSON.stringify(herd.agentFile)}: ${pin}}}`);
      await expect(load(herd)).rejects.toThrow(AgentFileNotAllowedError);
    },
  );

  it('is reported when it cannot be read', async () => {
    const herd = makeHerd({ agent: stdioAgent() });
    mkdirSync(herd.trustFile, { recursive: true });
    await expect(load(herd)).rejects.toThrow(ToolherdError);
  });

  it('holds many files', async () => {
    const herd = makeHerd({});
    const files = ['a', 'b', 'c'].map((name) => addFile(join(herd.folder, name, 'agent.yaml'), stdioAgent()));
    for (const file of files) await allow(herd, file);
    await new TrustStore(herd.trustFile).revoke(files[1]!);
    await load(herd, files[0]);
    await trustRefusalOf(load(herd, files[1]));
    await load(herd, files[2]);
  });
});

const REFUSED = [
  'PATH',
  'NODE_OPTIONS',
  'LD_PRELOAD',
  'LD_LIBRARY_PATH',
  'DYLD_INSERT_LIBRARIES',
  'PYTHONPATH',
  'NODE_PATH',
  'BASH_ENV',
  'UV_PYTHON',
  'NPM_CONFIG_NODE_OPTIONS',
  'npm_config_node-options',
  'npm_config_script_shell',
  'Npm_Config_Shell',
  'npm_config_userconfig',
  'npm_config_globalconfig',
  'npm_config_prefix',
  'PYTHONSTARTUP',
  'npm_config_package',
  'npm_config_registry',
  'NPM_CONFIG_CACHE',
  'HOME',
  'XDG_CONFIG_HOME',
  'UV_INDEX_URL',
  'UV_CONFIG_FILE',
  'PIP_INDEX_URL',
  'DOCKER_HOST',
  'DOCKER_CONFIG',
  'PERL5OPT',
  'RUBYOPT',
  'JAVA_TOOL_OPTIONS',
  'OPENSSL_CONF',
  'GIT_SSH_COMMAND',
  'GIT_CONFIG_COUNT',
];

describe('X3: variables that change which code a program loads', () => {
  it.each(REFUSED)(
    '%s is refused from env, envFile and manifest of a project, even an allowed one',
    async (name) => {
      expect(await problemsOf({ agent: stdioAgent(`env: {${name}: x}`) })).toMatchObject([
        { path: `tools[0].env.${name}` },
      ]);
      const files = { 'project/.env': `${name}=x\n` };
      expect(await problemsOf({ agent: stdioAgent('envFile: .env'), files })).toMatchObject([
        { path: 'tools[0].envFile' },
      ]);
      const variables = [{ name, default: 'x' }];
      const manifest = { packages: [{ runtime: 'npx', command: ['x'], environment_variables: variables }] };
      const plugin = { 'project/p/plugin.json': JSON.stringify(manifest) };
      expect(await problemsOf({ agent: PLUGIN, files: plugin })).toMatchObject([
        { path: 'tools[0].plugin_dir' },
      ]);
      const source = `tools:\n  - {name: a, source_type: mcp, mcp_plugin_dir: p, mcp_env_vars: {${name}: x}}\n`;
      const plain = { 'project/p/plugin.json': MANIFEST };
      expect(await problemsOf({ agent: source, files: plain })).toMatchObject([
        { path: `tools[0].mcp_env_vars.${name}` },
      ]);
    },
  );

  it.each(REFUSED)('%s is accepted from the global config', async (name) => {
    const files = { 'home/.env': `${name}=file\n` };
    expect(only(await loadGlobal(stdioConfig(`env: {${name}: x}`))).env).toEqual({ [name]: 'x' });
    expect(only(await loadGlobal(stdioConfig('envFile: .env'), { files })).env).toEqual({ [name]: 'file' });
  });

  it.each([
    'MY_PATH',
    'PATHS',
    'NODE_ENV',
    'OLD_',
    'XLD_A',
    'MY_PYTHON',
    'ENV',
    'NPM_TOKEN',
    'GIT_AUTHOR_NAME',
    'DOCKER_TOKEN',
  ])('%s is allowed', async (name) => {
    expect(only(await loadAgent(stdioAgent(`env: {${name}: x}`))).env).toEqual({ [name]: 'x' });
  });

  it('the same rule holds for a remote server of a project', async () => {
    expect(await problemsOf({ agent: remoteAgent('http', 'env: {PATH: x}') })).toMatchObject([
      { path: 'tools[0].env.PATH' },
    ]);
  });
});
