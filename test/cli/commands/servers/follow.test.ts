import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { config, server } from '../../../faults/config.js';
import { COMMAND, toolherd } from '../../../support/command.js';
import { type Herd, makeHome, startHerd, until } from '../../../support/herd.js';

const HERD = config([server('good', 'good.mjs'), server('logs', 'logs.mjs')]);

interface Following {
  child: ChildProcess;
  lines(): string[];
  notes(): string;
  status: Promise<number | null>;
}

/** A command that does not end, started and subscribed. */
async function begin({ home }: Pick<Herd, 'home'>, ...args: string[]): Promise<Following> {
  const child = spawn(process.execPath, [COMMAND, ...args], {
    cwd: home.folder,
    env: home.environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      said[name] += chunk;
    });
  }
  const status = once(child, 'close').then(([code]) => code as number | null);
  await until(() => said.stderr.includes('listening'));
  const lines = () => said.stdout.split('\n').slice(0, -1);
  return { child, lines, notes: () => said.stderr, status };
}

describe('toolherd events', () => {
  it('shows states and calls when they happen, without values of arguments', async () => {
    const herd = await startHerd(HERD);
    const events = await begin(herd, 'events');
    await herd.say('good', 'echo', { value: 'a secret thing' });
    await herd.say('good', 'refuse');
    const line = (pattern: RegExp) => until(() => events.lines().find((one) => pattern.test(one)));
    await line(/^\S+ state good connected \(running\): ./);
    const who = String.raw`toolherd/client [\d.]+ \(connection \d+, socket\)`;
    await line(new RegExp(String.raw`^\S+ call good echo\(value: string\): ok after \d+ ms, for ${who}$`));
    await line(new RegExp(String.raw`^\S+ call good refuse\(\): MCPProtocolError after \d+ ms, for ${who}$`));
    await herd.fleet.call({ server: 'good', tool: 'echo', arguments: { in: { a: [1], b: [] } } });
    await line(/ call good echo\(in: \{a: number\[\], b: unknown\[\]\}\): ok /);
    await herd.fleet.call({ server: 'absent', tool: 'x' });
    await line(/ call absent x\(\): ServerNotFoundError after \d+ ms, not sent, for /);
    expect(events.lines().join('\n')).not.toContain('a secret thing');
    events.child.kill('SIGINT');
    expect(await events.status).toBe(130);
    expect(events.notes()).not.toContain('error');
  });

  it('has one line for each change of a state; -v and --json have every step', async () => {
    const herd = await startHerd(HERD);
    const [events, all] = [await begin(herd, 'events'), await begin(herd, 'events', '-v')];
    await herd.say('good', 'echo', { value: 'x' });
    await herd.fleet.restart({ servers: ['good'] }, true);
    const called = (one: Following) => one.lines().some((line) => line.includes(' call good '));
    await until(() => called(events) && called(all));
    const states = events.lines().flatMap((line) => / state good (\w+ \(\w+\))/.exec(line)?.[1] ?? []);
    expect(states).toEqual(states.filter((state, index) => state !== states[index - 1]));
    expect(states).toContain('connected (running)');
    expect(all.lines().filter((line) => line.endsWith('the handshake is done')).length).toBeGreaterThan(
      events.lines().filter((line) => line.endsWith('the handshake is done')).length,
    );
  });

  it('--json prints each event as a line', async () => {
    const herd = await startHerd(HERD);
    const events = await begin(herd, 'events', '--json');
    await herd.say('logs', 'log', { level: 'error', data: 'two\nlines' });
    const parsed = () => events.lines().map((line) => JSON.parse(line) as Record<string, unknown>);
    const log = await until(() => parsed().find(({ topic }) => topic === 'log'));
    expect(log).toMatchObject({ api_version: 1, server: 'logs', level: 'error', message: 'two\nlines' });
    events.child.kill('SIGINT');
    await events.status;
  });

  it('exits with 3 without a daemon, and when the daemon ends', async () => {
    const home = makeHome(HERD);
    const options = { cwd: home.folder, env: home.environment };
    expect(await toolherd(['events'], options)).toMatchObject({ status: 3, stdout: '' });
    await home.start();
    const events = await begin({ home }, 'events');
    await toolherd(['down'], options);
    expect(await events.status).toBe(3);
    expect(events.notes()).toContain('error: DaemonNotRunningError: the daemon has ended');
  });

  it.each([['events'], ['logs', '-f']])(
    '%s ends with 124 when --timeout passes, and says so',
    async (...args) => {
      const herd = await startHerd(HERD);
      const following = await begin(herd, ...args, '--timeout', '1s');
      expect(await following.status).toBe(124);
      expect(following.notes()).toContain('error: MCPTimeoutError: ended after --timeout 1s');
    },
  );
});

describe('toolherd logs', () => {
  it('-f shows past entries and then new ones', async () => {
    const herd = await startHerd(HERD);
    await herd.say('logs', 'log', { level: 'warning', data: 'before' });
    await herd.say('logs', 'log', { level: 'info', data: 'hardly worth a word' });
    const logs = await begin(herd, 'logs', 'logs', '-f', '--level', 'warn');
    await herd.say('logs', 'log', { level: 'info', data: 'hardly worth a word' });
    await herd.say('logs', 'log', { level: 'error', data: 'after', logger: 'me' });
    await until(() => logs.lines().length === 2);
    expect(logs.lines().map((line) => line.replace(/^\S+ /, ''))).toEqual([
      'warn mcp: before',
      'error me: after',
    ]);
    logs.child.kill('SIGINT');
    expect(await logs.status).toBe(130);
  });

  it('logs shows the daemon and all servers if it names none, with -f and without it', async () => {
    const herd = await startHerd(HERD);
    const options = { cwd: herd.home.folder, env: herd.home.environment };
    await herd.say('logs', 'log', { level: 'warning', data: 'before' });
    const whole = (text: string) => text.replaceAll(/^\S+ /gm, '');
    const past = await toolherd(['logs'], options);
    expect(whole(past.stdout)).toMatch(/^info \(daemon\) /m);
    expect(whole(past.stdout)).toContain('warn logs mcp: before\n');
    const logs = await begin(herd, 'logs', '-f');
    expect(logs.lines()).toEqual(past.stdout.trimEnd().split('\n'));
    herd.home.configure(config([server('logs', 'logs.mjs')]));
    await until(() => logs.lines().some((line) => line.endsWith('info (daemon) config applied')));
    await herd.say('logs', 'log', { level: 'warning', data: 'after' });
    await until(() => logs.lines().some((line) => line.endsWith('warn logs mcp: after')));
    const alone = await toolherd(['logs', '--daemon', '-n', '1'], options);
    expect(whole(alone.stdout)).toBe('info config applied\n');
    expect((await toolherd(['logs', '--daemon', 'logs'], options)).status).toBe(2);
  });

  it('shows messages of servers without their colours', async () => {
    const herd = await startHerd(HERD);
    await herd.say('logs', 'log', { level: 'error', data: '\u001b[31mred\u001b[0m' });
    const options = { cwd: herd.home.folder, env: herd.home.environment };
    expect((await toolherd(['logs', 'logs'], options)).stdout).toMatch(/ error mcp: red\n$/);
  });

  it('logs -n counts the entries of each server', async () => {
    const herd = await startHerd(config([server('logs', 'logs.mjs'), server('other', 'logs.mjs')]));
    for (const name of ['logs', 'other'])
      for (const data of ['a', 'b', 'c']) await herd.say(name, 'log', { level: 'info', data });
    const options = { cwd: herd.home.folder, env: herd.home.environment };
    const { stdout } = await toolherd(['logs', '-n', '2', 'logs', 'other', '--json'], options);
    const entries = JSON.parse(stdout).entries as { server: string; text: string }[];
    expect(entries.map(({ server: of, text }) => `${of} ${text}`)).toEqual([
      'logs b',
      'logs c',
      'other b',
      'other c',
    ]);
  });

  it('a server that never ran has no logs; an unknown one is exit 4, also without a daemon', async () => {
    const home = makeHome(HERD);
    const options = { cwd: home.folder, env: home.environment };
    expect(await toolherd(['logs', 'good'], options)).toEqual({
      status: 0,
      stdout: '',
      stderr: "nothing was logged about 'good'\n",
    });
    expect(await toolherd(['logs', 'goood'], options)).toMatchObject({
      status: 4,
      stderr: expect.stringContaining("did you mean 'good'?"),
    });
    for (const command of ['stop', 'why', 'inspect'])
      expect(await toolherd([command, 'good'], options)).toMatchObject({ status: 3, stdout: '' });
  });

  it('--since and --level filter; an invalid level is exit 2', async () => {
    const herd = await startHerd(HERD);
    await herd.say('logs', 'log', { level: 'info', data: 'small' });
    await herd.say('logs', 'log', { level: 'critical', data: 'large' });
    const options = { cwd: herd.home.folder, env: herd.home.environment };
    const texts = async (...args: string[]) => {
      const { stdout } = await toolherd(['logs', 'logs', '--json', ...args], options);
      return (JSON.parse(stdout).entries as { text: string }[]).map(({ text }) => text);
    };
    expect(await texts('--since', '1h')).toEqual(['small', 'large']);
    expect(await texts('--level', 'fatal')).toEqual(['large']);
    expect(await texts('--since', '0.001ms')).toEqual([]);
    expect(await toolherd(['logs', '--level', 'loud'], options)).toMatchObject({ status: 2 });
  });
});
