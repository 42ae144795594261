import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { config, fixturePath, server } from '../../../faults/config.js';
import { prepareRegistry } from '../../../registry/command.js';
import * as shapes from '../../../registry/shapes.js';
import { toolherd } from '../../../support/command.js';
import { makeFolder } from '../../../support/folder.js';
import { startHerd, until } from '../../../support/herd.js';

const CONTEXT7 = 'io.github.upstash/context7';
const NEO4J = 'io.github.neo4j-contrib/mcp-neo4j-cypher';

/** As people write them: comments, an odd order, another's tool, variables. */
const MINE = `# my agent
model: gpt # not toolherd's
tools:
  # searching
  - name: docs   # the docs
    type: vectorstore
    source: "\${DOCS}"

  - type: mcp
    name: memory
    description: 'Remembers'
    server: memory
    command: npx
    args: ["-y", "pkg", "\${UNSET}"]
# the end
`;

const ADDED = `
  - name: context7
    description: Up-to-date code docs for any prompt
    type: mcp
    server: "@upstash/context7-mcp"
    transport: stdio
    command: npx
    args:
      - -y
      - "@upstash/context7-mcp@1.0.31"
    env:
      CONTEXT7_API_KEY: \${CONTEXT7_API_KEY:-}
    registry_name: io.github.upstash/context7
`;

describe('toolherd add', () => {
  it('writes one entry; comments, order and ${VAR} stay, byte for byte', async () => {
    const { run, agentFile, read, write } = await prepareRegistry([shapes.context7]);
    write(agentFile, MINE);
    const { status, stdout, stderr } = await run('add', CONTEXT7);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: `added: context7 (${CONTEXT7} 1.0.31) to ${agentFile}\n`,
    });
    expect(stderr).toBe(
      [
        `the file is not allowed to run yet: read it, then: toolherd allow ${agentFile}`,
        'next: toolherd tools context7, then toolherd call context7.TOOL',
        '',
      ].join('\n'),
    );
    expect(read(agentFile)).toBe(MINE.replace('# the end\n', `${ADDED}# the end\n`));
    expect(await run('remove', 'context7')).toMatchObject({
      status: 0,
      stdout: `removed: context7 from ${agentFile}\n`,
      stderr: "no config that toolherd reads here has 'context7' any more\n",
    });
    expect(read(agentFile)).toBe(MINE);
  });

  it('--dry-run shows the change and writes nothing; the JSON shape is stable', async () => {
    const { run, agentFile, configFile, read, write } = await prepareRegistry([shapes.context7]);
    write(agentFile, 'tools:\n  - {name: a, type: other}\n');
    const dry = await run('add', CONTEXT7, '--dry-run');
    const lines = ADDED.trim().split('\n');
    expect(dry).toMatchObject({
      status: 0,
      stdout: [
        `--- ${agentFile}`,
        `+++ ${agentFile}`,
        '@@ -1,2 +1,14 @@',
        ' tools:',
        '   - {name: a, type: other}',
        `+  ${lines[0]}`,
        ...lines.slice(1).map((line) => `+${line}`),
        '',
      ].join('\n'),
      stderr: expect.stringMatching(/nothing was written \(--dry-run\)\n$/),
    });
    expect(read(agentFile)).toBe('tools:\n  - {name: a, type: other}\n');
    const { stdout } = await run('add', CONTEXT7, '-g', '--dry-run', '--json');
    expect(JSON.parse(stdout)).toEqual({
      api_version: 1,
      ok: true,
      name: 'context7',
      registry_name: CONTEXT7,
      version: '1.0.31',
      scope: 'global',
      file: configFile,
      dry_run: true,
      diff: expect.stringMatching(
        /^--- \/dev\/null\n\+\+\+ .*\n@@ -0,0 \+1,13 @@\n\+version: "1.0"\n\+mcp_servers:\n/,
      ),
      needs: [
        {
          name: 'CONTEXT7_API_KEY',
          description: 'API key for authentication',
          secret: true,
          required: false,
          set: false,
        },
      ],
      allowed: true,
      allowed_command: null,
      warnings: [],
    });
    expect(() => read(configFile)).toThrow('ENOENT');
  });

  it('writes an unset variable as ${NAME}, and lists the variables to set and those that are set', async () => {
    const { runWith, configFile, read } = await prepareRegistry([shapes.neo4j]);
    const { status, stderr } = await runWith(
      { NEO4J_URI: 'canary-value' },
      'add',
      NEO4J,
      '-g',
      '--env',
      'NEO4J_USERNAME=me',
    );
    expect(status).toBe(0);
    expect(stderr).toBe(
      [
        'it needs these variables, which are not set:',
        '  NEO4J_PASSWORD (secret): Password',
        'set them where the daemon is started, then: toolherd up --replace; until then this server does not run',
        'these variables are set and are passed to it: NEO4J_URI',
        'next: toolherd tools mcp-neo4j-cypher, then toolherd call mcp-neo4j-cypher.TOOL',
        '',
      ].join('\n'),
    );
    const text = read(configFile);
    expect(text).toContain('      NEO4J_PASSWORD: ${NEO4J_PASSWORD}\n');
    expect(text).toContain('      NEO4J_URI: ${NEO4J_URI}\n');
    expect(text).toContain('      NEO4J_USERNAME: me\n');
    expect(text).not.toContain('canary-value');
    expect(statSync(configFile).mode & 0o777).toBe(0o600);
  });

  it('warns of a secret in the clear, and never shows it', async () => {
    const { run } = await prepareRegistry([shapes.neo4j]);
    const { stdout, stderr } = await run('add', NEO4J, '--env', 'NEO4J_PASSWORD=canary-value');
    expect(stderr).toContain(
      "NEO4J_PASSWORD is a secret, and would be safer outside of the file: --env 'NEO4J_PASSWORD=${",
    );
    expect(stdout + stderr).not.toContain('canary-value');
  });

  it('--transport chooses how the server is reached; the header refers to a token variable', async () => {
    const { run, agentFile, read } = await prepareRegistry([shapes.github]);
    const { stderr } = await run(
      'add',
      'io.github.github/github-mcp-server',
      '--transport',
      'streamable-http',
      '--name',
      'gh',
    );
    expect(read(agentFile)).toContain(
      [
        '  - name: gh',
        '    description: GitHub for agents',
        '    type: mcp',
        '    server: https://api.githubcopilot.com/mcp/',
        '    transport: http',
        '    url: https://api.githubcopilot.com/mcp/',
        '    headers:',
        '      Authorization: Bearer ${GH_TOKEN}',
        '    registry_name: io.github.github/github-mcp-server',
        '',
      ].join('\n'),
    );
    expect(stderr).toContain('\n  GH_TOKEN (secret): A token\n');
  });

  it.each([
    [
      'com.example/deleted',
      1,
      "error: RegistryRefusedError: 'com.example/deleted' was deleted from the registry\n  why: it was a fraud\n",
    ],
    [
      'com.example/only-nuget',
      1,
      '  why: nuget example-nuget (there is no runner for nuget packages here)\n',
    ],
    ['com.example/only-mcpb', 1, '  why: mcpb example-mcpb (there is no runner for mcpb packages here)\n'],
    ['com.example/none', 4, "error: RegistryNotFoundError: the registry has no server 'com.example/none'\n"],
    ['com.example/deprecated', 0, 'warning: com.example/deprecated is deprecated: use another\n'],
  ])('%s: exit %i', async (name, status, words) => {
    const { run, agentFile, read } = await prepareRegistry([
      shapes.deleted,
      shapes.nuget,
      shapes.mcpb,
      shapes.deprecated,
    ]);
    const outcome = await run('add', name);
    expect(outcome).toMatchObject({ status, stderr: expect.stringContaining(words) });
    if (status !== 0) expect(() => read(agentFile)).toThrow('ENOENT');
  });

  it('takes a command behind --, with all its flags', async () => {
    const { run, agentFile, read } = await prepareRegistry();
    expect(await run('add', 'memory', '--', 'npx', '-y', '@x/memory', '--json', '-q')).toMatchObject({
      status: 0,
      stdout: `added: memory to ${agentFile}\n`,
    });
    expect(read(agentFile)).toBe(
      [
        'tools:',
        '  - name: memory',
        '    description: npx @x/memory',
        '    type: mcp',
        '    server: "@x/memory"',
        '    transport: stdio',
        '    command: npx',
        '    args:',
        '      - -y',
        '      - "@x/memory"',
        '      - --json',
        '      - -q',
        '',
      ].join('\n'),
    );
    expect(await run('add', 'local', '-g', '--', 'npx', './server')).toMatchObject({ status: 0 });
    const { cwd, configFile } = {
      cwd: join(agentFile, '..'),
      configFile: join(agentFile, '..', 'home/config.yaml'),
    };
    expect(read(configFile)).toContain(`      - ${join(cwd, 'server')}\n`);
  });

  it('--agent names the file, which is created if missing', async () => {
    const { run, cwd, read } = await prepareRegistry();
    expect((await run('add', 'memory', '--agent', 'deep/other.yaml', '--', 'npx', 'x')).status).toBe(0);
    expect(read(join(cwd, 'deep/other.yaml'))).toContain('  - name: memory\n');
    expect((await run('list', '--agent', 'deep/other.yaml')).stdout).toContain('\nmemory ');
  });

  it('--url adds a remote server', async () => {
    const { run, agentFile, read } = await prepareRegistry();
    await run('add', 'docs', '--url', 'https://example.com/mcp?key=k', '--transport', 'sse');
    expect(read(agentFile)).toContain(
      '    server: https://example.com/mcp\n    transport: sse\n    url: https://example.com/mcp?key=k\n',
    );
    await run('add', 'socket', '--url', 'ws://localhost:1/mcp');
    expect(read(agentFile)).toContain('    transport: websocket\n');
  });

  it.each([
    [['add'], 2, 'name a server'],
    [['add', 'a', 'b'], 2, "too many arguments for 'add'"],
    [['add', 'a', '--', 'npx', 'x', '--url', 'x'], 0, ''],
    [['add', 'a', '--url', 'https://x.y', '--', 'npx'], 2, 'not both'],
    [['add', 'a', '--'], 2, 'no command after --'],
    [['add', 'a', '--transport', 'sse', '--', 'npx'], 2, 'a command uses stdio'],
    [['add', 'a', '--name', 'b', '--', 'npx'], 2, '--name is for servers of the registry'],
    [['add', 'a', '--env', 'X', '--', 'npx'], 2, '--env needs a name and a value'],
    [['add', 'a', '-g', '--agent', 'x.yaml', '--', 'npx'], 2, '-g and --agent name different files'],
    [['add', 'a', '--', 'node', 'x.js'], 78, "Invalid command 'node'. Supported commands: npx, uvx, docker"],
    [['add', 'a', '--url', 'http://example.com'], 78, "'url' must use https:// (or http:// for localhost)"],
  ])('%j: exit %i', async (args, status, words) => {
    const { run, agentFile, read } = await prepareRegistry();
    expect(await run(...args)).toMatchObject({ status, stderr: expect.stringContaining(words) });
    if (status !== 0) expect(() => read(agentFile)).toThrow('ENOENT');
  });

  it('leaves a file with problems unchanged: exit 78', async () => {
    const { run, agentFile, read, write } = await prepareRegistry([shapes.context7]);
    for (const broken of [
      'tools: [\n',
      'tools:\n  - {name: a, type: mcp, server: s, comand: npx}\n',
      '- a\n',
    ]) {
      write(agentFile, broken);
      expect((await run('add', CONTEXT7)).status).toBe(78);
      expect((await run('remove', 'a')).status).toBe(78);
      expect(read(agentFile)).toBe(broken);
    }
  });

  it.each([['-g'], []])('warns of a variable that is not set here, in either file: %s', async (...flags) => {
    const { run } = await prepareRegistry();
    const words = ['add', 'r6', ...flags, '--env', 'FOO=${NOPE_TOKEN}', '--', 'npx', 'x'];
    const { status, stderr } = await run(...words);
    expect(status).toBe(0);
    expect(stderr).toContain('warning: r6 needs NOPE_TOKEN, not set here');
  });

  it('a URL without its option is a usage error whose fix has --url', async () => {
    const { run } = await prepareRegistry();
    expect(await run('add', 'remote', '-g', 'https://example.com/mcp')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('fix: write toolherd add NAME --url URL\n'),
    });
  });

  it('an entry that would be wrong is exit 78, and no line of a file is named that was never written', async () => {
    const { run, configFile } = await prepareRegistry();
    const { status, stderr } = await run('add', 'r', '-g', '--url', 'localhost:1/mcp');
    expect(status).toBe(78);
    expect(stderr).toContain("error: MCPConfigError: 'url' must use https://");
    expect(stderr).not.toContain(configFile);
    expect(existsSync(configFile)).toBe(false);
  });
});

describe('trust in an agent file', () => {
  const NPX = ['--', 'npx', 'x'];
  const allowed = async (run: (...args: string[]) => Promise<{ stdout: string }>) =>
    JSON.parse((await run('revoke', '--json')).stdout).was_allowed as boolean;

  it('is given to a file that toolherd creates, and stays when toolherd edits it', async () => {
    const { run, agentFile, read } = await prepareRegistry();
    const store = () =>
      JSON.parse(read(join(agentFile, '..', 'home/state/trust.json'))).files[agentFile].sha256;
    expect((await run('add', 'one', ...NPX)).stderr).not.toContain('not allowed');
    const first = store();
    expect((await run('add', 'two', ...NPX)).stderr).not.toContain('not allowed');
    expect(store()).not.toBe(first);
    expect((await run('remove', 'two')).status).toBe(0);
    expect(store()).toBe(first);
  });

  it('is not given by an edit to a file that was never allowed or has changed since', async () => {
    const { run, agentFile, read, write } = await prepareRegistry();
    write(agentFile, 'tools: []\n');
    expect((await run('add', 'one', ...NPX)).stderr).toContain(`toolherd allow ${agentFile}`);
    expect(await allowed(run)).toBe(false);
    await run('allow', '--yes');
    write(agentFile, `${read(agentFile)}# changed meanwhile\n`);
    const { stdout } = await run('add', 'two', '--json', ...NPX);
    expect(JSON.parse(stdout)).toMatchObject({ allowed: false });
  });

  it('is not asked for with security.trust: all', async () => {
    const { run, agentFile, configFile, write } = await prepareRegistry();
    write(configFile, 'version: "1.0"\nsecurity: {trust: all}\n');
    write(agentFile, 'tools: []\n');
    expect((await run('add', 'one', ...NPX)).stderr).not.toContain('toolherd allow');
  });
});

describe('a running daemon', () => {
  it('starts an added server and drops a removed one', async () => {
    const herd = await startHerd(config([server('good', 'good.mjs')]));
    const { folder, configFile } = herd.home;
    const run = (...args: string[]) => toolherd(args, { cwd: folder, env: { ...herd.home.environment } });
    const added = await run('add', 'late', '-g', '--', process.execPath, fixturePath('good.mjs'));
    expect(added).toMatchObject({ status: 0, stdout: `added: late to ${configFile}\n` });
    expect(await run('call', 'late.echo', 'value=hi')).toMatchObject({ status: 0, stdout: 'hi' });
    expect((await run('remove', 'late', '-g')).status).toBe(0);
    await until(async () => (await herd.fleet.status()).servers.every(({ name }) => name !== 'late'));
    expect(readFileSync(configFile, 'utf8')).toBe(config([server('good', 'good.mjs')]));
  });

  it('starts servers that are added to an agent file, at once and every time', async () => {
    const herd = await startHerd(config([server('good', 'good.mjs')]));
    const cwd = makeFolder();
    const env = { ...herd.home.environment, TOOLHERD_HOME: herd.home.folder };
    const run = (...args: string[]) => toolherd(args, { cwd, env });
    for (const name of ['first', 'second']) {
      const added = await run('add', name, '--', process.execPath, fixturePath('good.mjs'));
      expect(added).toMatchObject({ status: 0, stdout: `added: ${name} to ${join(cwd, 'agent.yaml')}\n` });
      expect(await run('call', `${name}.echo`, 'value=hi')).toMatchObject({ status: 0, stdout: 'hi' });
    }
    expect((await run('remove', 'first')).status).toBe(0);
    expect((await run('call', 'first.echo', 'value=hi')).status).toBe(4);
    expect(await run('call', 'second.echo', 'value=hi')).toMatchObject({ status: 0, stdout: 'hi' });
  });
});

describe('toolherd add with a command that is not allowed', () => {
  it('names --allow-command and no file that does not exist; nothing is written', async () => {
    const { run, agentFile, configFile } = await prepareRegistry();
    const { status, stderr } = await run('add', 'mine', '--', 'node', 'server.js');
    expect(status).toBe(78);
    expect(stderr).toContain(
      "error: MCPConfigError: Invalid command 'node'. Supported commands: npx, uvx, docker\n",
    );
    expect(stderr).toContain('say --allow-command before --');
    expect(stderr).not.toContain('agent.yaml');
    expect(existsSync(agentFile) || existsSync(configFile)).toBe(false);
    const insecure = await run('add', 'mine', '--url', 'http://example.com');
    expect(insecure.stderr).toContain("error: MCPConfigError: 'url' must use https://");
    expect(insecure.stderr).toContain('nothing was written');
  });

  it.each([[[]], [['-g']]])('--allow-command adds it to security.allowed_commands: %j', async (flags) => {
    const { run, agentFile, configFile, read, write } = await prepareRegistry();
    write(configFile, 'version: "1.0" # mine\n');
    const add = ['add', 'mine', ...flags, '--allow-command', '--cwd', 'sub'];
    const dry = await run(...add, '--dry-run', '--', 'node', './server.js');
    expect(dry).toMatchObject({
      status: 0,
      stderr: expect.stringContaining(`would be allowed: node (security.allowed_commands in ${configFile})`),
    });
    expect(read(configFile)).toBe('version: "1.0" # mine\n');
    const added = await run(...add, '--json', '--', 'node', './server.js');
    expect(JSON.parse(added.stdout)).toMatchObject({ ok: true, allowed: true, allowed_command: 'node' });
    expect(read(configFile)).toContain('# mine\nsecurity:\n  allowed_commands: [node]\n');
    expect(read(flags.length === 0 ? agentFile : configFile)).toContain(
      `    cwd: ${join(agentFile, '../sub')}\n`,
    );
    expect((await run(...add, '--', 'deno', 'x')).status).toBe(1);
    expect(read(configFile)).not.toContain('deno');
  });

  it('a command by a relative path is written and allowed with its whole path', async () => {
    const { run, agentFile, configFile, cwd, read } = await prepareRegistry();
    expect((await run('add', 'mine', '--allow-command', '--', './server.sh')).status).toBe(0);
    expect(read(agentFile)).toContain(`command: ${join(cwd, 'server.sh')}\n`);
    expect(read(configFile)).toContain(`[${join(cwd, 'server.sh')}]`);
  });

  it.each([[['npx', '-y', 'pkg']], [['npx', 'pkg']]])(
    'words of a command without -- get a hint at it: %j',
    async (words) => {
      const { run } = await prepareRegistry();
      expect(await run('add', 'memory', ...words)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('put the command behind --: toolherd add NAME -- COMMAND ARG…'),
      });
    },
  );
});

describe('toolherd add --header', () => {
  it('writes headers of a remote server, and warns of a literal that looks like a secret without showing it', async () => {
    const { run, runWith, agentFile, read } = await prepareRegistry();
    const headers = ['--header', 'Authorization: Bearer ${KEY}', '--header', 'X-Env=a=b'];
    const clean = await runWith({ KEY: 'x' }, 'add', 'docs', '--url', 'https://example.com/mcp', ...headers);
    expect(clean.status).toBe(0);
    expect(clean.stderr).not.toContain('warning');
    expect(read(agentFile)).toContain('headers:\n      Authorization: Bearer ${KEY}\n      X-Env: a=b\n');
    const plain = await run(
      'add',
      'other',
      '--url',
      'https://example.com/mcp',
      '--header',
      'X-Api-Key=canary-4711',
    );
    expect(plain.stderr).toContain('warning: headers.X-Api-Key looks like a secret');
    expect(plain.stderr).toContain('write ${OTHER_X_API_KEY} there');
    expect(plain.stderr).not.toContain('canary');
  });

  it('is refused for a command, as --cwd is for a url', async () => {
    const { run } = await prepareRegistry();
    expect(await run('add', 'x', '--header', 'a=b', '--', 'npx', 'x')).toMatchObject({ status: 2 });
    expect(await run('add', 'x', '--url', 'https://x.example', '--cwd', '.')).toMatchObject({ status: 2 });
    expect(await run('add', 'x', '--url', 'https://x.example', '--header', 'secret')).toMatchObject({
      status: 2,
      stderr: expect.not.stringContaining('secret'),
    });
  });
});
