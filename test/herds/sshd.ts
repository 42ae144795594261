import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fixturePath } from '../faults/config.js';
import { makeFolder } from '../support/folder.js';
import { freePort } from '../support/remote-servers.js';
import { atEnd } from '../support/share.js';
import { until } from '../support/until.js';

const SSHD = '/usr/sbin/sshd';
/** Where sshd, as root, wants an empty folder. */
const PRIVSEP = '/run/sshd';

/** Why there is no sshd to test with; undefined: there is one. */
export function whyNoSshd(): string | undefined {
  if (!existsSync(SSHD)) return `${SSHD} is not installed`;
  return existsSync('/usr/bin/ssh') ? undefined : '/usr/bin/ssh is not installed';
}

/** A real sshd on loopback, of this user, with keys made for the test. */
export interface Sshd {
  port: number;
  folder: string;
  start(): Promise<void>;
  /** Kills it with all its sessions. */
  kill(): Promise<void>;
  /**
   * A folder for PATH: its `ssh` is the real one with a config for the test, where `desk` is the sshd. (ssh finds the home
   * of its user in the password file, not in HOME.)
   */
  client(changes?: Record<string, string>): string;
}

export async function startSshd(): Promise<Sshd> {
  const folder = makeFolder();
  chmodSync(folder, 0o700);
  const port = await freePort();
  for (const name of ['host', 'other-host', 'user', 'stranger'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)]);
  writeFileSync(join(folder, 'authorized'), readFileSync(join(folder, 'user.pub')), { mode: 0o600 });
  const known = (key: string) => `[127.0.0.1]:* ${publicKey(join(folder, `${key}.pub`))}\n`;
  writeFileSync(join(folder, 'known'), known('host'));
  writeFileSync(join(folder, 'known-wrong'), known('other-host'));
  writeFileSync(join(folder, 'known-none'), '');
  const config = [
    'ListenAddress 127.0.0.1',
    `HostKey ${join(folder, 'host')}`,
    `AuthorizedKeysFile ${join(folder, 'authorized')}`,
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PidFile none',
  ];
  writeFileSync(join(folder, 'sshd_config'), `${config.join('\n')}\n`);
  if (process.getuid?.() === 0 && !existsSync(PRIVSEP)) mkdirSync(PRIVSEP, { mode: 0o755 });
  let child: ChildProcess | undefined;
  let clients = 0;
  const sshd: Sshd = {
    port,
    folder,
    async start() {
      const args = ['-f', join(folder, 'sshd_config'), '-D', '-e', '-p', String(port)];
      child = spawn(SSHD, args, { stdio: 'ignore' });
      await until(() => isOpen(port));
    },
    async kill() {
      const running = child;
      if (running?.pid === undefined) return;
      child = undefined;
      const exited = once(running, 'exit');
      for (const pid of [...descendants(running.pid), running.pid]) killQuietly(pid);
      await exited;
    },
    client(changes = {}) {
      clients += 1;
      const options = {
        HostName: '127.0.0.1',
        Port: String(port),
        User: userInfo().username,
        IdentityFile: join(folder, 'user'),
        IdentitiesOnly: 'yes',
        UserKnownHostsFile: join(folder, 'known'),
        GlobalKnownHostsFile: '/dev/null',
        StrictHostKeyChecking: 'ask',
        ...changes,
      };
      const lines = Object.entries(options).map(([name, value]) => `  ${name} ${value}\n`);
      const bin = join(folder, `bin-${clients}`);
      mkdirSync(bin);
      writeFileSync(join(bin, 'config'), `Host desk\n${lines.join('')}`, { mode: 0o600 });
      const script = `#!/bin/sh\nexec /usr/bin/ssh -F ${join(bin, 'config')} "$@"\n`;
      writeFileSync(join(bin, 'ssh'), script, { mode: 0o755 });
      return bin;
    },
  };
  await sshd.start();
  atEnd(() => sshd.kill());
  return sshd;
}

/** A line in front of a port that delays each chunk, and can be cut. */
export interface Line {
  port: number;
  /** Nothing passes any more, and nothing is closed. */
  cut(): void;
  mend(): void;
}

export async function startLine(behind: number, delayMs: number): Promise<Line> {
  const child = spawn(process.execPath, [fixturePath('delay-proxy.mjs'), String(behind), String(delayMs)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  atEnd(() => child.kill('SIGKILL'));
  const [port] = await once(createInterface(child.stdout!), 'line');
  return { port: Number(port), cut: () => child.kill('SIGSTOP'), mend: () => child.kill('SIGCONT') };
}

function publicKey(file: string): string {
  return readFileSync(file, 'utf8').split(' ').slice(0, 2).join(' ');
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended already
  }
}

/** The sessions of an sshd. A daemon that a session started has left its session. */
function descendants(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // it has ended meanwhile
    }
  }
  const below = (of: number): number[] =>
    [...parents].filter(([, parent]) => parent === of).flatMap(([child]) => [child, ...below(child)]);
  return below(pid);
}
