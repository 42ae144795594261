import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerStatus } from '../../src/fleet/fleet.js';
import { parseReadiness, type Readiness } from '../../src/fleet/readiness.js';
import { type ConnectedFleet, connectFleet as connect } from '../../src/library/connect-fleet.js';
import { DIST } from './command.js';
import { makeFolder } from './folder.js';
import { isAlive, killNow, processesOf } from './processes.js';
import { atEnd } from './share.js';
import { PATIENCE_MS, seen, until } from './until.js';

export * from './processes.js';
export { until };

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A process of the built daemon that was started here. */
export interface Launched {
  pid: number;
  /** Undefined when it ended without a word. */
  readiness: Promise<Readiness | undefined>;
  exit: Promise<Exit>;
  /** Whatever it printed there; a daemon in the background has nothing to say. */
  stderr(): string;
}

export interface LaunchOptions {
  /** What a shell does before it becomes the daemon. */
  shell?: string;
  /** Options of Node itself. */
  node?: readonly string[];
  /** Where the daemon's files are; as a rule, where the build of this run put them. */
  bin?: string;
}

export interface HerdOptions extends LaunchOptions {
  /** In addition to the variables of every home; TOOLHERD_SOCKET is the socket. */
  environment?: Record<string, string>;
}

/** A new home folder, in which the real daemon runs; nothing of it outlives the test. */
export interface Home {
  folder: string;
  socket: string;
  configFile: string;
  environment: Record<string, string>;
  configure(text: string): void;
  launch(options?: LaunchOptions): Launched;
  /** Starts a daemon and waits until it serves. */
  start(options?: LaunchOptions): Promise<Daemon>;
  /** For a daemon that the command started here: it must not outlive the test either. */
  adopt(pid: number): Daemon;
}

export interface Daemon {
  pid: number;
  /** In the cookie of every process it starts. */
  id: string;
  kill(signal: NodeJS.Signals): void;
}

export interface Herd {
  home: Home;
  daemon: Daemon;
  fleet: ConnectedFleet;
  connect(): Promise<ConnectedFleet>;
  status(name: string): Promise<ServerStatus>;
  /** The text of a tool, or the message of its error. */
  say(server: string, tool: string, args?: Record<string, unknown>): Promise<string>;
}

/** One that ends says what it still holds. */
const LAST_LOOK = join(import.meta.dirname, 'last-look.cjs');
/** The daemon's watchdog gives the orphans of a killed daemon two seconds; the rest is for the noise. */
export const ORPHANS_MS = process.env.TOOLHERD_LONG ? 6000 : 12_000;

export async function startHerd(
  config: string,
  { environment, ...options }: HerdOptions = {},
): Promise<Herd> {
  const home = makeHome(config, environment);
  return herdIn(home, await home.start(options));
}

/** The herd of a daemon that runs already. */
export async function herdIn(home: Home, daemon: Daemon): Promise<Herd> {
  const open = async (): Promise<ConnectedFleet> => {
    const fleet = await connect({ socket: home.socket });
    atEnd(() => fleet.close());
    return { ...fleet, status: async (servers) => seen(await fleet.status(servers)) };
  };
  const fleet = await open();
  return {
    home,
    daemon,
    fleet,
    connect: open,
    status: async (name) => seen((await fleet.status([name])).servers[0]!),
    say: async (server, tool, args = {}) => {
      const { content, error } = await fleet.call({ server, tool, arguments: args });
      return error?.message ?? content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
    },
  };
}

export function makeHome(config: string, more: Record<string, string> = {}): Home {
  const folder = makeFolder({ 'config.yaml': config });
  const configFile = join(folder, 'config.yaml');
  const environment: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    TOOLHERD_HOME: folder,
    ...more,
  };
  const launched: Launched[] = [];
  const daemons: Daemon[] = [];
  atEnd(() => leaveNothing(launched, daemons));

  const home: Home = {
    folder,
    socket: environment.TOOLHERD_SOCKET ?? join(folder, 'run', 'toolherd.sock'),
    configFile,
    environment,
    configure: (text) => writeFileSync(configFile, text),
    launch({ shell, node = [], bin = join(DIST, 'bin') } = {}) {
      const command = [process.execPath, '--require', LAST_LOOK, ...node, join(bin, 'daemon.cjs')];
      const words =
        shell === undefined ? command : ['/bin/sh', '-c', `${shell}; exec "$@"`, 'sh', ...command];
      const one = launch(words, folder, environment);
      launched.push(one);
      return one;
    },
    async start(options) {
      const { readiness, stderr, pid } = home.launch(options);
      const said = await readiness;
      if (said?.ready !== true)
        throw new Error(`the daemon did not start: ${JSON.stringify(said)} ${stderr()}`);
      return home.adopt(pid);
    },
    adopt(pid) {
      const daemon = {
        pid,
        id: daemonIdIn(seenBy(pid, folder)),
        kill: (signal: NodeJS.Signals) => process.kill(pid, signal),
      };
      daemons.push(daemon);
      return daemon;
    },
  };
  return home;
}

function launch(words: readonly string[], cwd: string, env: Record<string, string>): Launched {
  const [program = '', ...args] = words;
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  const collect = (stream: unknown) => {
    let text = '';
    const readable = stream as NodeJS.ReadableStream;
    readable.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    return { text: () => text, end: new Promise<void>((resolve) => readable.once('close', () => resolve())) };
  };
  const pipe = collect(child.stdio[3]);
  const errors = collect(child.stderr);
  return {
    pid: child.pid ?? 0,
    readiness: pipe.end.then(() => parseReadiness(pipe.text())),
    exit: new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal }))),
    stderr: errors.text,
  };
}

/** A process is a zombie before its last thread has closed its files: it is dead when its socket refuses connections. */
export async function killDaemon({ socket }: Home, daemon: Daemon): Promise<void> {
  daemon.kill('SIGKILL');
  await until(() => !isAlive(daemon.pid));
  await until(() =>
    connect({ socket }).then(
      (fleet) => fleet.close(),
      (error: { type?: string }) => error.type === 'DaemonNotRunningError',
    ),
  );
}

/** Ends every daemon of a home, and fails the test if anything of one is left, or one had to be forced. */
async function leaveNothing(launched: readonly Launched[], daemons: readonly Daemon[]): Promise<void> {
  const faults: string[] = [];
  const running = new Set([...launched, ...daemons].map(({ pid }) => pid).filter(isAlive));
  for (const pid of running) process.kill(pid, 'SIGTERM');
  for (const pid of running) {
    const isGone = await until(() => !isAlive(pid), PATIENCE_MS).catch(() => undefined);
    if (isGone !== undefined) continue;
    faults.push(`the daemon ${pid} did not end on SIGTERM`);
    process.kill(pid, 'SIGKILL');
  }
  for (const { id } of daemons) {
    await until(() => processesOf(id).length === 0, ORPHANS_MS).catch(() => undefined);
    const left = processesOf(id);
    if (left.length > 0)
      faults.push(`left behind: ${left.map(({ pid, words }) => `${pid} ${words}`).join('; ')}`);
    for (const { pid } of left) killNow(pid);
  }
  for (const { stderr } of launched) if (stderr() !== '') faults.push(`the daemon printed: ${stderr()}`);
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

/** A path as a process sees it, which may have another disk there. */
export function seenBy(pid: number, path: string): string {
  return existsSync(`/proc/${pid}/root`) ? `/proc/${pid}/root${path}` : path;
}

function daemonIdIn(folder: string): string {
  const [header = '{}'] = readFileSync(join(folder, 'state', 'ledger'), 'utf8').split('\n');
  return (JSON.parse(header) as { daemonId: string }).daemonId;
}
