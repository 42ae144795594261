import { describe, expect, it } from 'vitest';
import { prepareRegistry } from '../../../registry/command.js';
import * as shapes from '../../../registry/shapes.js';

const UNSAFE = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202E]/;

describe('toolherd search', () => {
  it('shows a table, and how to get the next page', async () => {
    const { run } = await prepareRegistry([shapes.context7, shapes.github, shapes.deprecated, shapes.nuget]);
    expect(await run('search')).toEqual({
      status: 0,
      stdout: [
        'NAME                                 VERSION  BY        DESCRIPTION',
        'io.github.upstash/context7           1.0.31   npm http  Up-to-date code docs for any prompt',
        'io.github.github/github-mcp-server   0.20.1   oci http  GitHub for agents',
        'com.example/deprecated (deprecated)  1.0.0    npm       Only npm',
        'com.example/only-nuget               1.0.0    -         Only nuget',
        '',
      ].join('\n'),
      stderr: '',
    });
    const first = await run('search', 'github', '--limit', '1');
    expect(first.stdout).toContain('\nio.github.upstash/context7 ');
    expect(first.stdout.split('\n')).toHaveLength(3);
    expect(first.stderr).toBe('more: toolherd search github --cursor io.github.upstash/context7:1.0.31\n');
    const rest = await run('search', 'github', '--cursor', 'io.github.upstash/context7:1.0.31');
    expect(rest.stdout).toContain('\nio.github.github/github-mcp-server ');
    expect(await run('search', 'nothing')).toEqual({ status: 0, stdout: 'nothing found\n', stderr: '' });
  });

  it('the JSON shape is stable; an invalid entry is skipped with a warning', async () => {
    const { run, registry } = await prepareRegistry([shapes.context7]);
    registry.malformed.push({ server: 7 });
    const { stdout, stderr, status } = await run('search', 'context', '--json');
    expect(status).toBe(0);
    expect(stderr).toBe('warning: skipped an invalid entry: entry 1: it has no name\n');
    expect(JSON.parse(stdout)).toEqual({
      api_version: 1,
      servers: [
        {
          name: 'io.github.upstash/context7',
          title: 'Context7',
          description: 'Up-to-date code docs for any prompt',
          version: '1.0.31',
          status: 'active',
          by: ['npm', 'http'],
          published_at: '2026-05-01T08:00:00Z',
          updated_at: '2026-05-01T08:00:00Z',
        },
      ],
      next_cursor: null,
      skipped: ['entry 1: it has no name'],
      cached_at: null,
    });
  });

  it('offline shows the last answer with a warning; without one: exit 69', async () => {
    const { run, registry } = await prepareRegistry([shapes.context7]);
    await run('search', 'context');
    await registry.close();
    const { stdout, stderr, status } = await run('search', 'context');
    expect(status).toBe(0);
    expect(stdout).toContain('\nio.github.upstash/context7 ');
    expect(stderr).toMatch(
      /^warning: the registry at http:\S+ cannot be used: .*ECONNREFUSED.* \(asked 2 times\); showing its answer of \d{4}-/,
    );
    const none = await run('search', 'other', '--json');
    expect(none.status).toBe(69);
    expect(JSON.parse(none.stdout)).toMatchObject({ ok: false, error: { type: 'RegistryUnreachableError' } });
  });

  it.each(['597h', '9999999h'])(
    'a --timeout of %s, longer than any timer, does not end at once',
    async (time) => {
      const { run } = await prepareRegistry([shapes.context7]);
      expect(await run('search', '--timeout', time)).toMatchObject({ status: 0, stderr: '' });
    },
  );

  it('repeats a request to a busy registry, until --timeout: exit 124', async () => {
    const { run, registry } = await prepareRegistry([shapes.context7]);
    registry.faults.push({ status: 429, headers: { 'retry-after': '0' } }, { status: 503 });
    expect(await run('search')).toMatchObject({ status: 0, stderr: '' });
    registry.faults.push('silence', 'silence');
    expect(await run('search', 'new', '--timeout', '300ms')).toMatchObject({
      status: 124,
      stderr: expect.stringMatching(/did not answer in time\n {2}why: .*--timeout/),
    });
  });

  it.each([
    [['search', '--limit', '0'], {}, '--limit must be a whole number from 1 to 1000'],
    [['search'], { TOOLHERD_REGISTRY: 'http://example.com' }, 'TOOLHERD_REGISTRY must use https://'],
    [['show'], {}, 'name a server'],
  ])('usage: %j', async (args, env, message) => {
    const { runWith } = await prepareRegistry();
    expect(await runWith(env, ...args)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(message),
    });
  });

  it('uses daemon.registry; with an unreadable config it uses no registry: exit 78', async () => {
    const { runWith, registry, write, configFile } = await prepareRegistry([shapes.context7]);
    write(configFile, `version: "1.0"\ndaemon: {registry: "${registry.url}"}\n`);
    expect((await runWith({ TOOLHERD_REGISTRY: '' }, 'search')).stdout).toContain('context7');
    write(configFile, 'version: [\n');
    expect((await runWith({ TOOLHERD_REGISTRY: '' }, 'search')).status).toBe(78);
  });

  it('X2: no text of a publisher moves the cursor', async () => {
    const evil = 'a\u001B[31mred\u001B]0;title\u0007\u202Egnp\u009B2J\nFAKE';
    const [published] = shapes.simple('com.example/evil');
    Object.assign(published!.server, { title: evil, description: evil, version: evil, websiteUrl: evil });
    const { run } = await prepareRegistry([{ ...published!, status: 'deprecated', statusMessage: evil }]);
    for (const args of [['search'], ['show', 'com.example/evil'], ['add', 'com.example/evil', '--dry-run']]) {
      const { status, stdout, stderr } = await run(...args);
      expect(status).toBe(0);
      expect(stdout + stderr).not.toMatch(UNSAFE);
      expect(stdout + stderr).not.toMatch(/^FAKE/m);
    }
  });
});

it('the advice quotes a server name with shell characters', async () => {
  const { run } = await prepareRegistry(shapes.simple("com.example/x'; reboot; '"));
  const { stderr } = await run('show', "com.example/x'; reboot; '");
  expect(stderr).toBe("add it: toolherd add 'com.example/x'\\''; reboot; '\\'''\n");
});

describe('toolherd show', () => {
  it('shows how a server would be run or reached, and the variables that it needs', async () => {
    const { run } = await prepareRegistry([shapes.github]);
    expect(await run('show', 'io.github.github/github-mcp-server')).toEqual({
      status: 0,
      stdout: [
        'io.github.github/github-mcp-server 0.20.1',
        '  about       GitHub for agents',
        '  status      active',
        '  published   2026-05-01T08:00:00Z',
        '  updated     2026-05-01T08:00:00Z',
        '',
        '  oci images.example/github/github-mcp-server:0.20.1',
        '    runs        docker run -i --rm -e GITHUB_PERSONAL_ACCESS_TOKEN images.example/github/github-mcp-server:0.20.1',
        '    needs       GITHUB_PERSONAL_ACCESS_TOKEN (secret): A token of GitHub',
        '',
        '  http https://api.githubcopilot.com/mcp/',
        '    connects to https://api.githubcopilot.com/mcp/',
        '    sends       Authorization: Bearer ${GITHUB_MCP_SERVER_TOKEN}',
        '    needs       GITHUB_MCP_SERVER_TOKEN (secret): A token',
        '',
      ].join('\n'),
      stderr: 'add it: toolherd add io.github.github/github-mcp-server\n',
    });
  });

  it('the JSON shape is stable', async () => {
    const { run } = await prepareRegistry([shapes.context7]);
    const { stdout } = await run('show', 'io.github.upstash/context7@1.0.31', '--json');
    expect(JSON.parse(stdout)).toEqual({
      api_version: 1,
      server: {
        name: 'io.github.upstash/context7',
        title: 'Context7',
        description: 'Up-to-date code docs for any prompt',
        version: '1.0.31',
        status: 'active',
        published_at: '2026-05-01T08:00:00Z',
        updated_at: '2026-05-01T08:00:00Z',
        repository: 'https://github.com/upstash/context7',
        website: 'https://context7.com',
        ways: [
          {
            by: 'npm',
            server: '@upstash/context7-mcp',
            transport: 'stdio',
            command: 'npx',
            args: ['-y', '@upstash/context7-mcp@1.0.31'],
            env: { CONTEXT7_API_KEY: '${CONTEXT7_API_KEY:-}' },
            needs: [
              {
                name: 'CONTEXT7_API_KEY',
                description: 'API key for authentication',
                secret: true,
                required: false,
              },
            ],
          },
          {
            by: 'http',
            server: 'https://mcp.context7.com/mcp',
            transport: 'http',
            url: 'https://mcp.context7.com/mcp',
            needs: [],
          },
        ],
      },
      cached_at: null,
    });
  });

  it('an incomplete name or unknown version gets suggestions: exit 4', async () => {
    const { run } = await prepareRegistry([
      shapes.context7,
      ...shapes.simple('com.example/a', '1.0.0', '2.0.0'),
    ]);
    expect(await run('show', 'context7')).toEqual({
      status: 4,
      stdout: '',
      stderr: [
        "error: RegistryNotFoundError: the registry has no server 'context7'",
        '  fix: use the full name: io.github.upstash/context7; or see "toolherd search context7"',
        '',
      ].join('\n'),
    });
    expect((await run('show', 'com.example/a@3')).stderr).toContain('fix: there are: ');
    expect((await run('show', 'nothing')).stderr).toContain('fix: see "toolherd search"');
  });
});
