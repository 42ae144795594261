import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFleet } from '../../src/library/open-fleet.js';
import { config, type Entry, server } from '../faults/config.js';
import { type Herd, startHerd, until } from '../support/herd.js';
import { shared, startWorld } from './views/support.js';

const NOT_FOUND = "Environment variable 'NO_SUCH_TOKEN' not found";
const TOKEN = { env: { TOKEN: `\${NO_SUCH_TOKEN}` } };
/** One that works, and one whose token is set nowhere. */
const HERD: readonly Entry[] = [
  server('good', 'good.mjs'),
  server('tokened', 'good.mjs', { ...TOKEN, start: 'eager' }),
];

const misconfigured = (message: string) => ({
  state: 'error',
  detail: 'misconfigured',
  pids: [],
  incarnation: 0,
  next_retry_at: null,
  last_error: { message: expect.stringContaining(message), fix: expect.any(String), cause: 'config' },
});

/** The type and message of the JSON-RPC error that a request gets. */
const errorOf = (asked: Promise<unknown>) =>
  asked.then(
    () => undefined,
    ({ type, message, data }: { type: string; message: string; data?: unknown }) => ({ type, message, data }),
  );

async function reload({ fleet, home }: Herd, entries: readonly Entry[]) {
  home.configure(config(entries));
  return fleet.reload();
}

describe('an entry of the global config that cannot be resolved', () => {
  it('keeps only its own server from running', async () => {
    const { status, say, home } = await startHerd(config(HERD));
    expect(await say('good', 'echo', { value: 'hi' })).toContain('hi');
    expect(await status('tokened')).toMatchObject(misconfigured(NOT_FOUND));
    const { last_error } = await status('tokened');
    expect(last_error?.message).toMatch(new RegExp(`${home.configFile}:\\d+:\\d+$`));
    expect(last_error?.problems).toMatchObject([
      { type: 'ConfigError', message: NOT_FOUND, file: home.configFile, variable: 'NO_SUCH_TOKEN' },
    ]);
  });

  it('fails calls, orders and requests for its lists with its ConfigError at once', async () => {
    const { fleet } = await startHerd(config(HERD));
    const { success, error } = await fleet.call({ server: 'tokened', tool: 'echo', arguments: {} });
    expect(success).toBe(false);
    expect(error).toMatchObject({
      type: 'ConfigError',
      message: expect.stringContaining(NOT_FOUND),
      fix: expect.stringContaining('NO_SUCH_TOKEN'),
      sent: false,
      retryable: false,
      problems: [{ variable: 'NO_SUCH_TOKEN' }],
    });
    const only = { servers: ['tokened'] };
    const expected = { type: 'ConfigError', message: expect.stringContaining(NOT_FOUND) };
    for (const asked of [
      () => fleet.start(only, true),
      () => fleet.restart(only, true),
      () => fleet.reset(only, true),
      () => fleet.tools('tokened'),
      () => fleet.prompts('tokened'),
      () => fleet.resources('tokened'),
      () => fleet.prompt({ server: 'tokened', name: 'x' }),
      () => fleet.resource({ server: 'tokened', uri: 'x://y' }),
    ])
      expect(await errorOf(asked())).toMatchObject(expected);
  });

  it('is skipped by requests for all servers', async () => {
    const { fleet } = await startHerd(config(HERD));
    const { tools } = await fleet.tools();
    expect(new Set(tools.map((tool) => tool.server))).toEqual(new Set(['good']));
    const ordered = await fleet.start({ all: true }, true);
    expect(ordered.map(({ name, detail }) => [name, detail])).toEqual([
      ['good', 'running'],
      ['tokened', 'misconfigured'],
    ]);
    expect(await fleet.stop({ servers: ['tokened'] })).toMatchObject([{ detail: 'misconfigured' }]);
  });

  it('works after the reload that corrects it, and other servers run on', async () => {
    const herd = await startHerd(config(HERD));
    const pid = await herd.say('good', 'pid');
    writeFileSync(join(herd.home.folder, 'token.env'), 'NO_SUCH_TOKEN=abc\n');
    const mended = [HERD[0]!, server('tokened', 'good.mjs', { ...TOKEN, envFile: 'token.env' })];
    expect(await reload(herd, mended)).not.toHaveProperty('misconfigured');
    expect(JSON.parse(await herd.say('tokened', 'env'))).toMatchObject({ TOKEN: 'abc' });
    expect(await herd.say('good', 'pid')).toBe(pid);
  });

  it('is stopped by the reload that breaks it, which reports its problems, as a dry run does', async () => {
    const herd = await startHerd(config([HERD[0]!, server('tokened', 'good.mjs')]));
    const pid = await herd.say('good', 'pid');
    const old = Number(await herd.say('tokened', 'pid'));
    const report = {
      misconfigured: [{ server: 'tokened', problems: [{ message: NOT_FOUND, variable: 'NO_SUCH_TOKEN' }] }],
    };
    herd.home.configure(config(HERD));
    expect(await herd.fleet.reload(true)).toMatchObject(report);
    expect(await herd.fleet.reload()).toMatchObject(report);
    expect(await herd.status('tokened')).toMatchObject(misconfigured(NOT_FOUND));
    await until(() => !isThere(old));
    expect(await herd.say('good', 'pid')).toBe(pid);
    expect((await herd.fleet.status()).daemon.config_error).toBeNull();
  });

  it('may fail for each reason outside of the file', async () => {
    const { fleet } = await startHerd(
      config([
        server('good', 'good.mjs'),
        server('no-file', 'good.mjs', { envFile: 'missing.env' }),
        {
          name: 'bad-url',
          description: 'x',
          server: 'x',
          transport: 'http',
          url: `\${BAD_URL:-http://example.com}/mcp`,
        },
        { name: 'no-plugin', description: 'x', server: 'x', plugin_dir: './no-such-plugin' },
      ]),
    );
    const { servers } = await fleet.status();
    const shown = servers.map(({ name, detail, last_error }) => [name, detail, last_error?.message]);
    expect(shown).toEqual([
      ['good', 'idle', undefined],
      ['no-file', 'misconfigured', expect.stringContaining('envFile')],
      ['bad-url', 'misconfigured', expect.stringContaining("'url' must use https://")],
      ['no-plugin', 'misconfigured', expect.stringContaining('no-such-plugin')],
    ]);
    expect(await errorOf(fleet.tools('bad-url'))).toMatchObject({ type: 'MCPConfigError' });
  });

  it('is misconfigured for every agent if it is per-agent', async () => {
    const { connect } = await startHerd(
      config([HERD[0]!, server('tokened', 'good.mjs', { ...TOKEN, sharing: 'per-agent' })]),
    );
    const fleet = await connect();
    const { error } = await fleet.call({ server: 'tokened', tool: 'echo', arguments: {} });
    expect(error).toMatchObject({ type: 'ConfigError', message: expect.stringContaining(NOT_FOUND) });
    const { servers } = await fleet.status(['tokened']);
    expect(servers).toMatchObject([misconfigured(NOT_FOUND)]);
  });

  it('is disabled if its entry says so', async () => {
    const { status } = await startHerd(
      config([HERD[0]!, server('tokened', 'good.mjs', { ...TOKEN, enabled: false })]),
    );
    expect(await status('tokened')).toMatchObject({ detail: 'disabled', last_error: null });
  });

  it('does not matter in a file with an invalid shape, which is refused with all problems', async () => {
    const herd = await startHerd(config([HERD[0]!]));
    const error = await errorOf(reload(herd, [...HERD, server('odd', 'good.mjs', { colour: 'red' })]));
    expect(error).toMatchObject({
      message: expect.stringMatching(/NO_SUCH_TOKEN[\s\S]*Unknown field 'colour'/),
    });
    expect((await herd.fleet.status()).servers.map(({ name }) => name)).toEqual(['good']);
  });
});

describe('an agent beside an entry of the global config that cannot be resolved', () => {
  it('uses its own entry of that name; without one it sees the server as misconfigured', async () => {
    const world = await startWorld([shared('tokened', 'good.mjs', TOKEN)]);
    const own = world.project('own', [shared('tokened')]);
    const other = world.project('other', [shared('more')]);
    await own.allow();
    await other.allow();
    const [a, b] = [await world.agent().see(own.file), await world.agent().see(other.file)];
    expect(await a.pid('tokened')).toMatch(/^\d+$/);
    expect((await b.status()).find(({ name }) => name === 'tokened')).toMatchObject({
      detail: 'misconfigured',
    });
    expect(await b.pid('more')).toMatch(/^\d+$/);
  });

  it('FR-010: is refused with its whole file if its own agent.yaml has an unset variable', async () => {
    const world = await startWorld([]);
    const { file, allow } = world.project('own', [shared('good'), shared('tokened', 'good.mjs', TOKEN)]);
    await allow();
    await expect(world.agent().see(file)).rejects.toThrow(NOT_FOUND);
  });

  it("does not get the server's tools over MCP, and a call gets a result with the reason and the fix", async () => {
    const world = await startWorld([shared('tokened', 'good.mjs', TOKEN)]);
    const agent = await world.agent().see();
    const tools = await agent.tools();
    expect(tools).toContain('any__echo');
    expect(tools.filter((name) => name.startsWith('tokened'))).toEqual([]);
    const { result } = await agent.ask('call', 'tools/call', { name: 'tokened__echo', arguments: {} });
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result)).toContain(`ConfigError: tokened: ${NOT_FOUND}`);
    expect(JSON.stringify(result)).toContain('For the person in charge: ');
  });
});

it('FR-010: openFleet refuses a config with an unset variable as a whole', async () => {
  const { home } = await startHerd(config([HERD[0]!]));
  const file = join(home.folder, 'other.yaml');
  writeFileSync(file, config(HERD));
  await expect(openFleet({ config: file })).rejects.toThrow(NOT_FOUND);
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
