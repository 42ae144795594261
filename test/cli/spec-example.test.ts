import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Prepared, prepareRegistry } from '../registry/command.js';
import { simple } from '../registry/shapes.js';

const ALICE = 'io.github.alice/filesystem';
const BOB = 'io.github.bob/filesystem';
const published = [...simple(ALICE), ...simple(BOB)];
const BY_HAND = ['add', 'filesystem', '--', 'npx', '-y', 'mine'];

/** The content of the two files, read without toolherd. */
function written({ agentFile, configFile }: Prepared): string[] {
  const lists = [agentFile, configFile].map((file) =>
    existsSync(file) ? parse(readFileSync(file, 'utf8')) : {},
  );
  const line = (scope: string) => (entry: Record<string, string>) =>
    `${scope} ${entry.name} ${entry.registry_name ?? '-'}`;
  return [...(lists[0].tools ?? []).map(line('local')), ...(lists[1].mcp_servers ?? []).map(line('global'))];
}

/** Which of them are used, as `list --all` sees it. */
async function used({ run }: Prepared): Promise<string[]> {
  const { stdout } = await run('list', '--all', '--json');
  return JSON.parse(stdout).servers.map(
    ({ name, scope, registry_name }: Record<string, string>) => `${scope} ${name} ${registry_name ?? '-'}`,
  );
}

describe('seed 001: server names', () => {
  it('a registry name is kept in full, the local name is its last segment', async () => {
    const scene = await prepareRegistry(published);
    await scene.run('add', ALICE);
    expect(written(scene)).toEqual([`local filesystem ${ALICE}`]);
  });

  it('must be non-empty', async () => {
    const { run, agentFile, read } = await prepareRegistry(published);
    expect((await run('add', ALICE, '--name', '')).status).toBe(78);
    expect((await run('add', '', '--', 'npx')).status).toBe(78);
    expect(() => read(agentFile)).toThrow('ENOENT');
  });
});

describe.each([
  ['agent.yaml', []],
  ['config.yaml', ['-g']],
])('seed 001: duplicate detection in %s', (_, flags) => {
  const scope = flags.length === 0 ? 'local' : 'global';
  const fileOf = (scene: Prepared) => (scope === 'local' ? scene.agentFile : scene.configFile);
  const byHand = ['add', 'filesystem', ...flags, '--', 'npx', '-y', 'mine'];

  it('registry to registry, the same registry_name: a duplicate under any name', async () => {
    const scene = await prepareRegistry(published);
    await scene.run('add', ALICE, ...flags);
    const text = scene.read(fileOf(scene));
    const again = await scene.run('add', ALICE, ...flags, '--name', 'other');
    expect(again).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining(
        `error: DuplicateError: '${ALICE}' is already in the file as 'filesystem'\n`,
      ),
    });
    expect(scene.read(fileOf(scene))).toBe(text);
  });

  it('registry to registry, different registry_names: different servers; a taken short name needs --name', async () => {
    const scene = await prepareRegistry(published);
    await scene.run('add', ALICE, ...flags);
    const text = scene.read(fileOf(scene));
    const taken = await scene.run('add', BOB, ...flags);
    expect(taken.status).toBe(1);
    expect(taken.stderr).toContain(
      [
        `⚠️  Warning: Server 'filesystem' (${BOB}) has the same`,
        `    short name as existing server (${ALICE}).`,
        '    Consider using --name to specify a unique name.',
        "error: NameTakenError: the name 'filesystem' is taken",
        '',
      ].join('\n'),
    );
    expect(taken.stderr).toContain(` --name bob-filesystem\n`);
    expect(scene.read(fileOf(scene))).toBe(text);
    expect((await scene.run('add', BOB, ...flags, '--name', 'bob-filesystem')).status).toBe(0);
    expect(written(scene)).toEqual([`${scope} filesystem ${ALICE}`, `${scope} bob-filesystem ${BOB}`]);
  });

  it('manual to manual, the same name: a duplicate', async () => {
    const scene = await prepareRegistry(published);
    await scene.run(...byHand);
    const text = scene.read(fileOf(scene));
    expect(await scene.run(...byHand)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("error: DuplicateError: 'filesystem' is already in the file\n"),
    });
    expect(scene.read(fileOf(scene))).toBe(text);
  });

  it('registry to manual, the same name: written, warned, and the manual one wins', async () => {
    const scene = await prepareRegistry(published);
    await scene.run(...byHand);
    const { status, stderr } = await scene.run('add', ALICE, ...flags);
    expect(status).toBe(0);
    expect(stderr).toMatch(
      /^warning: 'filesystem' is also the name of an entry written by hand \(line \d\), which wins/,
    );
    expect(await used(scene)).toEqual([`${scope} filesystem -`]);
    // and it is the one that is meant by the name
    await scene.run('remove', 'filesystem', ...flags);
    expect(written(scene)).toEqual([`${scope} filesystem ${ALICE}`]);
  });

  it('manual to registry, the same name: written, warned, and the manual one wins', async () => {
    const scene = await prepareRegistry(published);
    await scene.run('add', ALICE, ...flags);
    const { status, stderr } = await scene.run(...byHand);
    expect(status).toBe(0);
    expect(stderr).toContain(`warning: 'filesystem' is also the name of ${ALICE}, from the registry`);
    expect(await used(scene)).toEqual([`${scope} filesystem -`]);
    await scene.run('remove', ALICE, ...flags);
    expect(written(scene)).toEqual([`${scope} filesystem -`]);
  });
});

describe('seed 001: agent config integration', () => {
  it('an entry of the agent overrides the global one of the same name, with a warning', async () => {
    const scene = await prepareRegistry(published);
    await scene.run('add', ALICE, '-g');
    expect((await scene.run(...BY_HAND)).stderr).toContain(
      "warning: in this project it overrides 'filesystem' of the global config\n",
    );
    expect(await scene.run('list', '--all')).toEqual({
      status: 0,
      stdout: [
        'NAME        WHERE   TRANSPORT  SERVER',
        'filesystem  local   stdio      mine',
        `filesystem  global  stdio      ${ALICE}  overridden`,
        '',
      ].join('\n'),
      stderr: '',
    });
  });

  it('entries of other types in the same list are neither duplicates nor removed', async () => {
    const scene = await prepareRegistry(published);
    const theirs = 'tools:\n  - name: filesystem\n    type: vectorstore\n';
    scene.write(scene.agentFile, theirs);
    expect((await scene.run('remove', 'filesystem')).status).toBe(4);
    expect((await scene.run('add', ALICE)).status).toBe(0);
    expect((await scene.run('remove', 'filesystem')).status).toBe(0);
    expect(scene.read(scene.agentFile)).toBe(theirs);
  });
});

describe('seed 001: server installation state', () => {
  const ADD = { local: ['add', ALICE], global: ['add', ALICE, '-g'] };
  const REMOVE = { local: ['remove', 'filesystem'], global: ['remove', 'filesystem', '-g'] };
  const IN = {
    not_installed: [],
    local: [ADD.local],
    global: [ADD.global],
    both: [ADD.local, ADD.global],
  } as const;
  const HELD = {
    not_installed: [],
    local: [`local filesystem ${ALICE}`],
    global: [`global filesystem ${ALICE}`],
    both: [`local filesystem ${ALICE}`, `global filesystem ${ALICE}`],
  };

  it.each([
    ['NOT_INSTALLED → INSTALLED_LOCAL (add to agent.yaml)', 'not_installed', ADD.local, 'local'],
    ['NOT_INSTALLED → INSTALLED_GLOBAL (add with -g flag)', 'not_installed', ADD.global, 'global'],
    ['INSTALLED_LOCAL → NOT_INSTALLED (remove from agent.yaml)', 'local', REMOVE.local, 'not_installed'],
    ['INSTALLED_GLOBAL → NOT_INSTALLED (remove with -g flag)', 'global', REMOVE.global, 'not_installed'],
    ['INSTALLED_BOTH → INSTALLED_GLOBAL (remove without -g)', 'both', REMOVE.local, 'global'],
    ['INSTALLED_BOTH → INSTALLED_LOCAL (remove with -g)', 'both', REMOVE.global, 'local'],
    ['INSTALLED_LOCAL → INSTALLED_BOTH (add with -g flag)', 'local', ADD.global, 'both'],
    ['INSTALLED_GLOBAL → INSTALLED_BOTH (add to agent.yaml)', 'global', ADD.local, 'both'],
  ] as const)('%s', async (_, before, step, after) => {
    const scene = await prepareRegistry(published);
    for (const args of IN[before]) await scene.run(...args);
    const { status, stdout } = await scene.run(...step, '--json');
    expect(status).toBe(0);
    if (step[0] === 'remove')
      expect(JSON.parse(stdout)).toMatchObject({ ok: true, name: 'filesystem', state: after });
    expect(written(scene)).toEqual(HELD[after]);
  });

  it.each([
    ['not_installed', REMOVE.local, 'fix: see "toolherd list --all"'],
    ['not_installed', REMOVE.global, 'fix: see "toolherd list --all"'],
    ['local', REMOVE.global, ': toolherd remove filesystem\n'],
    ['global', REMOVE.local, ': toolherd remove filesystem -g\n'],
  ] as const)('%s: %j finds nothing, and suggests where to look: exit 4', async (before, step, words) => {
    const scene = await prepareRegistry(published);
    for (const args of IN[before]) await scene.run(...args);
    expect(await scene.run(...step)).toMatchObject({ status: 4, stderr: expect.stringContaining(words) });
    expect(written(scene)).toEqual(HELD[before]);
  });
});

describe('toolherd list and remove', () => {
  it('the JSON shape of list is stable; without an agent.yaml it shows the global config', async () => {
    const scene = await prepareRegistry(published);
    await scene.run('add', ALICE, '-g');
    expect(await scene.run('list')).toEqual(await scene.run('list', '-g'));
    expect(JSON.parse((await scene.run('list', '-g', '--json')).stdout)).toEqual({
      api_version: 1,
      servers: [
        {
          name: 'filesystem',
          scope: 'global',
          file: scene.configFile,
          transport: 'stdio',
          server: '@test/filesystem',
          registry_name: ALICE,
          enabled: true,
          overridden: false,
        },
      ],
    });
    expect((await scene.run('list', '-g', '--all')).status).toBe(2);
  });

  it('remove has a dry run and a near miss; the JSON shape is stable', async () => {
    const scene = await prepareRegistry(published);
    const { run, agentFile, read } = scene;
    await run('add', 'memory', '--', 'npx', 'x');
    expect(await run('remove', 'memroy')).toMatchObject({
      status: 4,
      stderr: `error: ServerNotFoundError: ${agentFile} has no server 'memroy'\n  fix: did you mean 'memory'?\n`,
    });
    const text = read(agentFile);
    const { stdout } = await run('remove', 'memory', '--dry-run');
    expect(stdout).toContain('@@ -1,9 +1,1 @@\n-tools:\n-  - name: memory\n');
    expect(stdout).toMatch(/\n\+tools: \[\]\n$/);
    expect(read(agentFile)).toBe(text);
    expect(JSON.parse((await run('remove', 'memory', '--json')).stdout)).toEqual({
      api_version: 1,
      ok: true,
      name: 'memory',
      registry_name: null,
      scope: 'local',
      file: agentFile,
      dry_run: false,
      diff: stdout.trimEnd(),
      state: 'not_installed',
      allowed: true,
    });
    expect((await run('remove')).status).toBe(2);
  });
});
