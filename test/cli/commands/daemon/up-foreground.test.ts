import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectFleet } from '../../../../src/library/connect-fleet.js';
import { config, server } from '../../../faults/config.js';
import { COMMAND, toolherd } from '../../../support/command.js';
import { type ForegroundOptions, serving, servingPid, startForeground } from '../../../support/foreground.js';
import { type Home, isAlive, killDaemon, makeHome, processesOf, until } from '../../../support/herd.js';
import { NOISE_MS } from '../../../support/noise.js';

const HERD = config([server('talks', 'answers-late.mjs', { stop: { close: 5, term: 1 } })]);

async function begin(options: ForegroundOptions = {}, text = HERD) {
  const home = makeHome(text);
  const foreground = startForeground(home, options);
  const daemon = await serving(home);
  const fleet = await connectFleet({ socket: home.socket });
  onTestFinished(() => fleet.close());
  const say = async (tool: string, args: Record<string, unknown>) => {
    const { content, error } = await fleet.call({ server: 'talks', tool, arguments: args });
    const [block] = content;
    return error?.message ?? (block?.type === 'text' ? block.text : undefined);
  };
  return { home, foreground, daemon, fleet, say };
}

const daemonLog = ({ folder }: Home) => readFileSync(join(folder, 'state', 'logs', 'daemon.log'), 'utf8');

describe('up --foreground', () => {
  it('is the daemon process: its pid is that of the command', async () => {
    const { foreground, daemon } = await begin();
    expect(daemon.pid).toBe(foreground.pid);
    expect(foreground.stdout()).toContain('"msg":"serving"');
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'stops in order at one %s to its group: a call in flight is answered, and the exit status is 0',
    async (signal) => {
      const { home, foreground, say } = await begin();
      const answer = say('late', { ms: 700 });
      await say('print', { line: 'the call is with the server' });
      foreground.signalGroup(signal);
      expect(await answer).toBe('answered');
      expect(await foreground.exit).toEqual({ code: 0, signal: null });
      expect(daemonLog(home)).toContain('"msg":"ended"');
    },
  );

  it('treats signals within a second as one order', async () => {
    const { home, foreground, say } = await begin();
    const answer = say('late', { ms: 700 });
    await say('print', { line: 'the call is with the server' });
    for (const signal of ['SIGINT', 'SIGINT', 'SIGTERM', 'SIGINT'] as const)
      process.kill(foreground.pid, signal);
    expect(await answer).toBe('answered');
    expect(await foreground.exit).toEqual({ code: 0, signal: null });
    expect(daemonLog(home)).toContain('"msg":"ended"');
  });

  it('exits at once at a signal more than a second after the first', async () => {
    const slow = server('talks', 'stubborn.mjs', { start: 'eager', stop: { close: 20, term: 20 } });
    const { home, foreground, fleet, daemon } = await begin({}, config([slow]));
    await fleet.start({ all: true }, true);
    foreground.signalGroup('SIGINT');
    // the daemon counts its second from when it handles the first signal
    await until(() => daemonLog(home).includes('"signal":"SIGINT"'));
    await sleep(1300);
    expect(isAlive(foreground.pid)).toBe(true);
    foreground.signalGroup('SIGINT');
    expect(await foreground.exit).toEqual({ code: 130, signal: null });
    await until(() => processesOf(daemon.id).length === 0);
  });

  it('reloads the config at SIGHUP without a terminal', async () => {
    const { home, foreground, fleet } = await begin();
    home.configure(config([server('talks', 'answers-late.mjs'), server('more', 'good.mjs')]));
    foreground.signalGroup('SIGHUP');
    await until(async () => (await fleet.status()).servers.length === 2);
    expect(isAlive(foreground.pid)).toBe(true);
  });

  it('a daemon killed with -9 leaves no process: the next up starts another daemon', async () => {
    const { home, foreground, daemon, say } = await begin();
    await say('print', { line: 'it runs' });
    await killDaemon(home, {
      ...daemon,
      pid: foreground.pid,
      kill: (signal) => foreground.child.kill(signal),
    });
    await until(() => processesOf(daemon.id).length === 0);
    const { status, stdout } = await toolherd(['up', '--json'], { cwd: home.folder, env: home.environment });
    const { already_running, pid } = JSON.parse(stdout) as { already_running: boolean; pid: number };
    expect({ status, already_running }).toEqual({ status: 0, already_running: false });
    home.adopt(pid);
  });

  it('reports a running daemon and exits', async () => {
    const home = makeHome(HERD);
    const daemon = await home.start();
    const { exit, stdout } = startForeground(home);
    expect(await exit).toEqual({ code: 0, signal: null });
    expect(stdout()).toBe(`already running (pid ${daemon.pid})\n`);
  });

  it('--replace inside a server of the herd is refused: the replaced daemon would kill it', async () => {
    const home = makeHome(config([server('good', 'good.mjs')]));
    const daemon = await home.start();
    const fleet = await connectFleet({ socket: home.socket });
    onTestFinished(() => fleet.close());
    const shown = (await fleet.call({ server: 'good', tool: 'env' })).text();
    const { TOOLHERD_COOKIE = '' } = JSON.parse(shown) as Record<string, string>;
    expect(TOOLHERD_COOKIE).toContain(daemon.id);
    const { exit, stderr } = startForeground(home, { flags: ['--replace'], env: { TOOLHERD_COOKIE } });
    expect(await exit).toEqual({ code: 2, signal: null });
    await until(() => stderr().endsWith('  fix: toolherd up --replace\n'));
    expect(stderr()).toContain('inside a server');
    expect(await servingPid(home)).toBe(daemon.pid);
  });

  it('fails with the problems of a broken config: exit 78', async () => {
    const home = makeHome('version: "1.0"\nmcp_servers: [{name: a}]\n');
    const { exit, stderr } = startForeground(home, { flags: ['--replace'] });
    expect(await exit).toEqual({ code: 78, signal: null });
    await until(() => stderr().includes('config.yaml'));
  });

  it('that cannot start prints the error that up prints', async () => {
    const home = makeHome(HERD);
    writeFileSync(join(home.folder, 'state'), '');
    const up = await toolherd(['up'], { cwd: home.folder, env: home.environment });
    expect(up.stderr).toMatch(/^error: \w+: /);
    const { exit, stderr } = startForeground(home);
    expect(await exit).toEqual({ code: up.status, signal: null });
    await until(() => stderr() === up.stderr);
  });

  it('--json prints the same JSON as up for a broken config', async () => {
    const home = makeHome('version: "1.0"\nmcp_servers: [{name: a}]\n');
    const up = await toolherd(['up', '--json'], { cwd: home.folder, env: home.environment });
    const { exit, stdout, stderr } = startForeground(home, { flags: ['--json'] });
    expect(await exit).toEqual({ code: up.status, signal: null });
    await until(() => stdout().endsWith('}\n'));
    const { ok, error } = JSON.parse(up.stdout) as { ok: boolean; error: object };
    expect(JSON.parse(stdout())).toMatchObject({ ok, error });
    expect([ok, stderr()]).toEqual([false, '']);
  });
});

describe('the log of up --foreground', () => {
  it('may have a closed stdout: the daemon runs on', async () => {
    const { home, foreground, daemon, say } = await begin();
    foreground.child.stdout!.destroy();
    for (let count = 0; count < 5; count += 1) {
      expect(await say('print', { line: `line ${count}` })).toBe('printed');
    }
    // the last of it is in the file
    await until(() => serverLog(home).includes('line 4'));
    expect(await say('late', { ms: 1 })).toBe('answered');
    expect(await servingPid(home)).toBe(daemon.pid);
    foreground.signalGroup('SIGTERM');
    expect(await foreground.exit).toEqual({ code: 0, signal: null });
    expect(foreground.stderr()).toBe('');
  });

  it('drops lines while stdout is not read, and reports their number when it is read again', async () => {
    const { home, foreground, say } = await begin({ stdout: 'unread' });
    const line = 'x'.repeat(2000);
    // below the 4 MiB at once from which on a server's lines are dropped anyhow
    await say('print', { line, times: 1600 });
    await say('print', { line: 'the last one' });
    await until(() => serverLog(home).includes('the last one'));
    const lines: string[] = [];
    createInterface({ input: foreground.child.stdout! }).on('line', (text) => lines.push(text));
    const note = await until(() => lines.find((text) => text.includes('were dropped')));
    const before = lines.slice(0, lines.indexOf(note)).join('\n').length;
    // a pipe holds 64 KiB, and the daemon 1 MiB
    expect(before).toBeLessThan(1.2 * 2 ** 20);
    const { msg, lost } = JSON.parse(note) as { msg: string; lost: number };
    expect(lost).toBeGreaterThan(900);
    expect(msg).toContain(`${lost} log lines were dropped here`);
    await say('print', { line: 'read again' });
    await until(() => lines.some((text) => text.includes('read again')));
  });

  it('has control characters as JSON escapes', async () => {
    const { foreground, say } = await begin();
    const evil = 'csi \u009B31m osc \u009D0;title\u009C del \u007F rlo \u202E lri \u2066 esc \u001B[2J end';
    await say('print', { line: evil });
    const line = await until(() =>
      foreground
        .stdout()
        .split('\n')
        .find((text) => text.includes('csi') && text.endsWith('}')),
    );
    expect(line).not.toMatch(/[\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/);
    // colours and cursor movements are taken out, whole
    const rest = 'csi  osc \u009D0;title\u009C del \u007F rlo \u202E lri \u2066 esc  end';
    expect((JSON.parse(line) as { msg: string }).msg).toBe(rest);
  });
});

/** Runs a command on a pseudo terminal, and reads from it until the order `stall`. */
const PTY = `
import os, pty, select, sys, time
pid, master = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
reading = True
print(pid, flush=True)
while True:
    ready, _, _ = select.select([0] + ([master] if reading else []), [], [])
    if 0 in ready:
        order = os.read(0, 100).decode().strip()
        if order == 'stall': os.write(master, b'\\x13'); reading = False
        if order == 'go on': os.write(master, b'\\x11'); reading = True
        if order == 'ctrl-c': os.write(master, b'\\x03')
        if order == 'close': os.close(master); reading = False; break
        print('done', flush=True)
    if master in ready:
        try: data = os.read(master, 65536)
        except OSError: break
        if not data: break
        os.write(2, data)
_, status = os.waitpid(pid, 0)
print('exit', os.waitstatus_to_exitcode(status), flush=True)
`;

async function onPty(home: Home) {
  const child = spawn('python3', ['-c', PTY, process.execPath, COMMAND, 'up', '--foreground'], {
    cwd: home.folder,
    env: home.environment,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const said: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => said.push(line));
  let screen = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => (screen += chunk));
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const pid = Number(await until(() => said[0]));
  const daemon = await serving(home, (found) => found === pid);
  return {
    daemon,
    screen: () => screen,
    async order(text: string) {
      const before = said.length;
      child.stdin.write(`${text}\n`);
      await until(() => said.length > before);
    },
    status: () => until(() => said.find((line) => line.startsWith('exit '))),
  };
}

describe('up --foreground on a terminal', () => {
  it('that is stopped (Ctrl-S) delays no call', async () => {
    const home = makeHome(HERD);
    const terminal = await onPty(home);
    const fleet = await connectFleet({ socket: home.socket });
    onTestFinished(() => fleet.close());
    const call = (tool: string, args: Record<string, unknown>) =>
      fleet.call({ server: 'talks', tool, arguments: args });
    await call('print', { line: 'before' });
    await until(() => terminal.screen().includes('before'));
    await terminal.order('stall');
    await call('print', { line: 'x'.repeat(1000), times: 200 });
    for (let count = 0; count < 5; count += 1) {
      const began = performance.now();
      expect((await call('late', { ms: 1 })).success).toBe(true);
      expect(performance.now() - began).toBeLessThan(1000 + NOISE_MS);
    }
    await terminal.order('go on');
    await call('print', { line: 'after' });
    await until(() => terminal.screen().includes('after'));
    await terminal.order('ctrl-c');
    expect(await terminal.status()).toBe('exit 0');
    expect(terminal.screen()).toContain('Ctrl-C');
  });

  it('reloads the config at SIGHUP while the terminal is open', async () => {
    const home = makeHome(HERD);
    const { daemon } = await onPty(home);
    const fleet = await connectFleet({ socket: home.socket });
    onTestFinished(() => fleet.close());
    home.configure(config([server('talks', 'answers-late.mjs'), server('more', 'good.mjs')]));
    daemon.kill('SIGHUP');
    await until(async () => (await fleet.status()).servers.length === 2);
    expect(isAlive(daemon.pid)).toBe(true);
  });

  it('stops in order when the terminal is closed', async () => {
    const home = makeHome(HERD);
    const terminal = await onPty(home);
    const fleet = await connectFleet({ socket: home.socket });
    onTestFinished(() => fleet.close());
    const answer = fleet.call({ server: 'talks', tool: 'late', arguments: { ms: 700 } });
    await fleet.call({ server: 'talks', tool: 'print', arguments: { line: 'with the server' } });
    await terminal.order('close');
    expect((await answer).success).toBe(true);
    expect(await terminal.status()).toBe('exit 0');
    expect(daemonLog(home)).toContain('"msg":"ended"');
  });
});

function serverLog({ folder }: Home): string {
  return readFileSync(join(folder, 'state', 'logs', 'servers', 'talks.log'), 'utf8');
}
