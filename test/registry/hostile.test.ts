import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dockerHostAccess } from '../../src/install/docker-host-access.js';
import { openRegistry } from '../../src/registry/index.js';
import { makeFolder } from '../support/folder.js';
import { prepareRegistry } from './command.js';
import { instantRetries } from './http-options.js';
import { type Published, startRegistry } from './server.js';
import { simple } from './shapes.js';

const SECRET = 's3cretvalue';

function published(name: string, more: Record<string, unknown>): Published {
  return { server: { name, version: '1.0.0', description: 'd', ...more } };
}

describe('a hostile answer of the registry', () => {
  it('an answer about another server is refused', async () => {
    const { registry, run, agentFile } = await prepareRegistry(simple('io.a/good'));
    const body = JSON.stringify({ server: simple('io.b/bad')[0]?.server });
    registry.faults.push({ status: 200, body });
    const { status, stderr } = await run('add', 'io.a/good');
    expect({ status, stderr }).toMatchObject({
      status: 69,
      stderr: expect.stringContaining("the answer is about 'io.b/bad'"),
    });
    expect(existsSync(agentFile)).toBe(false);
  });

  it('a container that accesses the host gives a warning', async () => {
    const image = {
      registryType: 'oci',
      identifier: 'images.example/i:1',
      transport: { type: 'stdio' },
      runtimeArguments: [
        { type: 'named', name: '-v', value: '/:/host' },
        { type: 'positional', value: '--privileged' },
      ],
    };
    const { run } = await prepareRegistry([published('io.a/box', { packages: [image] })]);
    expect((await run('add', 'io.a/box', '--dry-run')).stderr).toContain(
      'warning: its container gets access to the host: -v /:/host, --privileged\n',
    );
  });

  it.each([
    [['run', '-i', '--rm', '-e', 'TOKEN', 'image'], []],
    [['run', '-v', '${FOLDER}:/data', '-v', 'volume:/data', 'image'], []],
    [
      ['run', '--network=host', '--pid', 'host', 'image'],
      ['--network=host', '--pid host'],
    ],
    [
      ['run', '-v/:/x', '--cap-add', 'ALL', 'image'],
      ['-v/:/x', '--cap-add ALL'],
    ],
    [['run', '--mount', 'type=bind,src=/,dst=/x', 'image'], ['--mount type=bind,src=/,dst=/x']],
    [['run', '--volume=/var/run/docker.sock:/s', 'image'], ['--volume=/var/run/docker.sock:/s']],
    [['run', '-itv', '/:/h', 'image'], ['-itv /:/h']],
    [['run', '-iv/:/h', 'image'], ['-iv/:/h']],
    [['run', '-v=/:/h', 'image'], ['-v=/:/h']],
    [['run', '--privileged=1', '--privileged=false', 'image'], ['--privileged=1']],
    [
      ['run', '-v', '${HOME}:/h', '-v', '${X:-/}:/h', '-v', '${userHome}/x:/h', 'image'],
      ['-v ${HOME}:/h', '-v ${X:-/}:/h', '-v ${userHome}/x:/h'],
    ],
    [
      ['run', '--env-file', '/path', '--volumes-from', 'x', '--device-cgroup-rule=c 1:3 rwm', 'image'],
      ['--env-file /path', '--volumes-from x', '--device-cgroup-rule=c 1:3 rwm'],
    ],
    [
      ['run', '--cgroupns', 'host', '--network', 'container:x', '--use-api-socket', '--cidfile=/x', 'image'],
      ['--cgroupns host', '--network container:x', '--use-api-socket', '--cidfile=/x'],
    ],
    [
      ['run', '--mount', 'type=volume,dst=/x,volume-opt=device=/,volume-opt=o=bind', 'image'],
      ['--mount type=volume,dst=/x,volume-opt=device=/,volume-opt=o=bind'],
    ],
    [['--context', 'run', 'run', '--name', '--privileged', 'image', '--privileged', '-v', '/:/h'], []],
    [['run', '--network', 'bridge', '--mount', 'type=tmpfs,dst=/x', '-e', 'A=/x', 'image'], []],
    [['exec', '--privileged', 'x'], []],
  ])('the host access of a container: %j', (args, reach) => {
    expect(dockerHostAccess(args)).toEqual(reach);
  });

  it('cannot reverse the text of the file with bidi characters', async () => {
    const { run, agentFile, read } = await prepareRegistry([
      published('io.a/bidi', {
        ...simple('x')[0]?.server,
        name: 'io.a/bidi',
        description: 'a\u202Eb\u2066c',
      }),
    ]);
    await run('add', 'io.a/bidi');
    expect(read(agentFile)).toContain('description: "a\\u202eb\\u2066c"\n');
  });
});

describe('a secret of the user', () => {
  it('a secret in the url of the registry is refused, and not shown', async () => {
    const { run, runWith, configFile, write } = await prepareRegistry();
    const url = `https://me:${SECRET}@registry.example/v0.1`;
    const fromVariable = await runWith({ TOOLHERD_REGISTRY: url }, 'search');
    write(configFile, `daemon: {registry: "${url}"}\n`);
    const fromConfig = await runWith({ TOOLHERD_REGISTRY: '' }, 'search');
    for (const { status, stdout, stderr } of [fromVariable, fromConfig]) {
      expect(status).not.toBe(0);
      expect(stderr).toContain('  fix: ');
      expect(stdout + stderr).not.toContain(SECRET);
    }
    expect(await run('show', 'io.a/x@')).toMatchObject({ status: 2 });
  });

  it('a secret in a command or a url is not used as the name of the server, and list does not show it', async () => {
    const { run, agentFile, read } = await prepareRegistry();
    await run(
      'add',
      'gh',
      '--',
      'docker',
      'run',
      '-i',
      '-e',
      `TOKEN=${SECRET}`,
      '--name',
      'x',
      'images.example/gh',
    );
    await run('add', 'key', '--', 'npx', '-y', '--api-key', SECRET, 'pkg');
    await run('add', 'web', '--url', `https://me:${SECRET}@x.example/mcp?k=${SECRET}`);
    const { stdout } = await run('list', '--json');
    expect(stdout).not.toContain(SECRET);
    expect(JSON.parse(stdout).servers.map(({ server }: { server: string }) => server)).toEqual([
      'images.example/gh',
      'pkg',
      'https://x.example/mcp',
    ]);
    const descriptions = read(agentFile).match(/description: .*/g);
    expect(descriptions).toEqual([
      'description: docker images.example/gh',
      'description: npx pkg',
      'description: Remote server at https://x.example/mcp',
    ]);
  });

  it('a secret in the file is not in the diff of add and remove', async () => {
    const { run, agentFile, write } = await prepareRegistry(simple('io.a/new'));
    write(
      agentFile,
      `tools:
  - name: old
    type: mcp
    server: s
    command: npx
    args:
      - --api-key
      - ${SECRET}
      - --token=${SECRET}
      - postgres://me:${SECRET}@db.example/x
    env: {API_TOKEN: ${SECRET}, LEVEL: "3"}
  - {name: flow, type: mcp, server: s, command: npx, args: ["--api-key", "${SECRET}", x]}
`,
    );
    const shown = [
      await run('add', 'io.a/new', '--env', `MY_TOKEN=${SECRET}`, '--dry-run'),
      await run('add', 'io.a/new', '--json'),
      await run('remove', 'old', '--dry-run'),
      await run('remove', 'old', '--json'),
    ];
    for (const { status, stdout, stderr } of shown) {
      expect({ status, stderr }).toMatchObject({ status: 0 });
      expect(stdout + stderr).not.toContain(SECRET);
    }
    expect(shown[2]?.stdout).toContain('-    env: {API_TOKEN: [hidden], LEVEL: "3"}\n');
  });
});

describe('the report of add', () => {
  it('names a global config that does not load before a new file is written', async () => {
    const { run, agentFile, configFile, write } = await prepareRegistry(simple('io.a/new'));
    write(
      configFile,
      'mcp_servers:\n  - {name: g, description: d, server: s, command: npx, envFile: none.env}\n',
    );
    expect(await run('add', 'io.a/new')).toMatchObject({ status: 78, stdout: '' });
    expect(existsSync(agentFile)).toBe(false);
  });

  it('does not call a file allowed that cannot be loaded', async () => {
    const { run, agentFile, write } = await prepareRegistry(simple('io.a/new'));
    write(
      agentFile,
      'tools:\n  - {name: o, type: mcp, description: d, server: s, command: npx, envFile: none.env}\n',
    );
    const { stdout } = await run('add', 'io.a/new', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, allowed: false });
  });
});

it('JSON that is not from a registry is an error, and does not replace the cached answer', async () => {
  const { registry, run } = await prepareRegistry(simple('io.a/one'));
  const strange = ['[1, 2]', 'null', '{"login": "please"}', '{"servers": "x"}'];
  for (const body of strange) {
    registry.faults.push({ status: 200, body });
    expect(await run('search', 'one')).toMatchObject({ status: 69, stdout: '' });
  }
  await run('search', 'one');
  registry.faults.push({ status: 200, body: '{"login": "please"}' });
  const { status, stdout, stderr } = await run('search', 'one');
  expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('io.a/one') });
  expect(stderr).toContain('its answer is not that of a registry; showing its answer of ');
  registry.faults.push({ status: 200, body: '{"servers": null, "metadata": {"count": 0}}' });
  expect(await run('search', 'two')).toMatchObject({ status: 0, stdout: 'nothing found\n' });
});

it('a cached server has the age of its answer', async () => {
  const server = await startRegistry([...simple('io.a/one'), ...simple('io.a/two')]);
  const cacheFolder = makeFolder();
  let now = Date.parse('2026-06-01T00:00:00Z');
  const registry = openRegistry({ base: server.url, cacheFolder, http: instantRetries(), now: () => now });
  await registry.search('one', 10, undefined);
  now = Date.parse('2026-06-09T00:00:00Z');
  await registry.search('two', 10, undefined);
  await server.close();
  expect((await registry.find('io.a/one', 'latest')).cachedAt).toBe('2026-06-01T00:00:00.000Z');
  expect((await registry.search('io.a/two', 10, undefined)).cachedAt).toBe('2026-06-09T00:00:00.000Z');
  expect((await registry.search('io.a', 10, undefined)).cachedAt).toBe('2026-06-01T00:00:00.000Z');
});
