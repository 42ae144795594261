import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { config, server } from '../../../faults/config.js';
import { COMMAND, toolherd } from '../../../support/command.js';
import { makeHome, startHerd, until } from '../../../support/herd.js';
import { onTerminal } from '../../../support/terminal.js';

const HERD = config([server('good', 'good.mjs')]);
const ENTER = '\u001B[?1049h\u001B[?25l';
const LEAVE = '\u001B[?25h\u001B[?1049l';

describe('status --watch on a terminal', () => {
  it('draws over what it drew, shows a change, and q gives the terminal back', async () => {
    const herd = await startHerd(HERD);
    const terminal = onTerminal(['status', '--watch'], { cwd: herd.home.folder, env: herd.home.environment });
    await until(() => terminal.screen().includes('q or Ctrl-C ends it'));
    expect(terminal.screen()).toMatch(/good +created +idle/);
    await herd.say('good', 'echo', { value: 1 });
    await until(() => /good +\S*connected\S* +running/.test(terminal.screen()));
    terminal.press('q');
    expect(await terminal.status).toBe(0);
    const screen = terminal.screen();
    expect(screen.split(ENTER)).toHaveLength(2);
    const [drawn = '', after] = screen.split(LEAVE);
    expect(drawn).not.toContain('\u001B[2J');
    expect(after).toMatch(/^NAME +STATE.*\r\ngood +\u001B\[32mconnected\u001B\[0m +running/);
  });

  it('Ctrl-C ends it with 130, and the end of the daemon with 3; the cursor comes back', async () => {
    const herd = await startHerd(HERD);
    const options = { cwd: herd.home.folder, env: herd.home.environment };
    const first = onTerminal(['status', '--watch'], options);
    const second = onTerminal(['status', '--watch'], options);
    for (const { screen } of [first, second]) await until(() => screen().includes('ends it'));
    first.press('\u0003');
    expect(await first.status).toBe(130);
    await toolherd(['down'], options);
    expect(await second.status).toBe(3);
    for (const { screen } of [first, second]) expect(screen()).toContain(LEAVE);
    expect(second.screen()).toContain('error: DaemonNotRunningError: the daemon has ended');
  });
});

describe('status --watch elsewhere', () => {
  it('--json: a line for every change, with everything that status says', async () => {
    const herd = await startHerd(HERD);
    const child = spawn(process.execPath, [COMMAND, 'status', '--watch', '--json'], {
      cwd: herd.home.folder,
      env: herd.home.environment,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    const states = () =>
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line).servers[0].state as string);
    await until(() => states().length === 1);
    await herd.say('good', 'echo', { value: 1 });
    await until(() => states().at(-1) === 'connected');
    expect(states()[0]).toBe('created');
    const closed = once(child, 'close');
    child.kill('SIGINT');
    expect((await closed)[0]).toBe(130);
  });

  it('a silent daemon does not block the command: a signal ends --watch, --timeout ends status and why', async () => {
    const herd = await startHerd(HERD);
    const options = { cwd: herd.home.folder, env: herd.home.environment };
    herd.daemon.kill('SIGSTOP');
    onTestFinished(() => herd.daemon.kill('SIGCONT'));
    const child = spawn(process.execPath, [COMMAND, 'status', '--watch'], { ...options, stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    for (const command of [['status'], ['why', 'good']]) {
      const { status, stderr } = await toolherd([...command, '--timeout', '100ms'], options);
      expect([status, stderr]).toEqual([124, expect.stringContaining('not done within 100ms')]);
    }
    child.kill('SIGINT');
    expect(await exited).toEqual([null, 'SIGINT']);
    const doctor = await toolherd(['doctor', '-q', '--timeout', '100ms'], options);
    expect(doctor.status).toBe(1);
    expect(doctor.stdout).toMatch(/^error {2}daemon .* does not answer\n {7}fix: kill -9 \d+/m);
    herd.daemon.kill('SIGCONT');
  });

  it('says what makes no sense, and starts no daemon', async () => {
    const home = makeHome(HERD);
    const options = { cwd: home.folder, env: home.environment };
    expect((await toolherd(['status', '--watch'], options)).status).toBe(3);
    expect((await toolherd(['status', '--watch', '--wait'], options)).status).toBe(2);
  });
});
