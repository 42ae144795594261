import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { command, config, server } from '../../faults/config.js';
import { startHerd, until } from '../../support/herd.js';

const require = createRequire(import.meta.url);
const ROOT = join(import.meta.dirname, '..', '..', '..');
const EVERYTHING = join(
  dirname(require.resolve('@modelcontextprotocol/server-everything/package.json')),
  'dist',
  'index.js',
);
const everything = (fields: Record<string, unknown> = {}) =>
  config([command('everything', process.execPath, [EVERYTHING], fields)]);

const work = (duration: number, steps: number) => ({
  server: 'everything',
  tool: 'trigger-long-running-operation',
  arguments: { duration, steps },
});

describe('a long call to a real server over the socket', () => {
  test('US5.4 FR-012: progress is forwarded and extends the timeout; without it request_timeout ends the call', async () => {
    const { fleet } = await startHerd(everything({ request_timeout: 1 }));
    const heard: unknown[] = [];
    const done = await fleet.call(work(2, 8), { onProgress: (progress) => heard.push(progress) });
    expect(done.text()).toContain('Long running operation completed');
    expect(heard).toEqual(Array.from({ length: 8 }, (_, at) => ({ progress: at + 1, total: 8 })));
    const late = await fleet.call(work(10, 1));
    expect(late.error).toMatchObject({
      type: 'MCPTimeoutError',
      message: 'everything: no reply to tools/call in 1 s',
      sent: true,
      retryable: false,
    });
  });

  test('max_timeout ends the call in spite of progress', async () => {
    const { fleet } = await startHerd(everything({ request_timeout: 1, max_timeout: 2 }));
    const { error, metadata } = await fleet.call(work(30, 120), { onProgress: () => undefined });
    expect(error).toMatchObject({
      type: 'MCPTimeoutError',
      message: expect.stringContaining('its hard limit'),
    });
    expect(metadata.execution_time_ms).toBeLessThan(5000);
  });

  test('a call that its caller cancels is cancelled at the server', async () => {
    const { fleet } = await startHerd(config([server('good', 'good.mjs')]));
    const lines: string[] = [];
    const end = fleet.subscribe(['log'], (event) => event.topic === 'log' && lines.push(event.message));
    const abort = new AbortController();
    const cancelled = fleet.call({ server: 'good', tool: 'wait' }, { signal: abort.signal });
    await until(async () => (await fleet.status()).servers[0]?.in_flight === 1);
    abort.abort();
    expect((await cancelled).error).toMatchObject({ type: 'CancelledError', sent: true, retryable: false });
    // the server prints this at notifications/cancelled
    await until(() => lines.some((line) => /^cancelled \d+: /.test(line)));
    end();
  });
});

describe('a server with another encoding', () => {
  test.each([
    ['latin1', 'windows-1252', 'äöü ÿ'],
    ['utf-16le', 'utf-16le', 'ä ☃ 表 😀'],
    ['shift_jis', 'shift_jis', '表ソ plain'],
  ])('FR-004 US2.4: exchanges text through the daemon: %s', async (encoding, label, value) => {
    const { say } = await startHerd(
      config([server('talks', 'talks.mjs', { encoding, args: [label], load_tools: false })]),
    );
    expect(await say('talks', 'echo', { value })).toBe(value);
  });
});

describe('the configuration of a server', () => {
  test('FR-011 US2.2: config.allowed_directories sets the folders of the filesystem server of the specification', async () => {
    const { home, say, fleet } = await startHerd('version: "1.0"\n');
    mkdirSync(join(home.folder, 'data'));
    mkdirSync(join(home.folder, 'output'));
    writeFileSync(join(home.folder, 'data', 'hello.txt'), 'hello from a root\n');
    writeFileSync(join(home.folder, 'secret.txt'), 'not for it\n');
    // as it is written there, but for the folder in which npx finds the package
    home.configure(`version: "1.0"
mcp_servers:
  - name: files
    description: "Read and write files in workspace"
    type: mcp
    server: "@modelcontextprotocol/server-filesystem"
    command: npx
    args: ["-y", "@modelcontextprotocol/server-filesystem"]
    cwd: ${ROOT}
    config:
      allowed_directories:
        - "\${workspaceFolder}/data"
        - "\${workspaceFolder}/output"
`);
    await until(async () => (await fleet.status()).servers.length === 1);
    // its very first call
    const file = await say('files', 'read_text_file', { path: join(home.folder, 'data', 'hello.txt') });
    expect(file).toContain('hello from a root');
    expect(await say('files', 'list_allowed_directories')).toContain(join(home.folder, 'output'));
    const outside = await say('files', 'read_text_file', { path: join(home.folder, 'secret.txt') });
    expect(outside).toContain('Access denied');
  }, 60_000);

  test('FR-011: is in MCP_CONFIG, and in the _meta of initialize', async () => {
    const fields = { config: { level: 3, nested: { on: true } } };
    const { say } = await startHerd(
      config([server('good', 'good.mjs', fields), server('questions', 'questions.mjs', fields)]),
    );
    expect(JSON.parse(JSON.parse(await say('good', 'env')).MCP_CONFIG)).toEqual(fields.config);
    expect(JSON.parse(await say('questions', 'hello'))._meta).toEqual({ 'toolherd/config': fields.config });
  });
});
