import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { connectFleet } from '../../src/library/connect-fleet.js';
import { COMMAND } from './command.js';
import { type Daemon, type Exit, type Home, isAlive } from './herd.js';
import { until } from './until.js';

export interface Foreground {
  child: ChildProcess;
  /** Of the command. */
  pid: number;
  exit: Promise<Exit>;
  /** Everything it printed so far, where that is read. */
  stdout(): string;
  stderr(): string;
  /** To every process of its group, as a terminal does it. */
  signalGroup(signal: NodeJS.Signals): void;
}

export interface ForegroundOptions {
  flags?: readonly string[];
  env?: Record<string, string>;
  /** `unread`: a pipe from which nothing is read. */
  stdout?: 'read' | 'unread';
}

/** `toolherd up --foreground`, in a process group like that of a job of a shell. */
export function startForeground(
  home: Home,
  { flags = [], env = {}, stdout = 'read' }: ForegroundOptions = {},
): Foreground {
  const child = spawn(process.execPath, [COMMAND, 'up', '--foreground', ...flags], {
    cwd: home.folder,
    env: { ...home.environment, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  if (stdout === 'read') child.stdout.setEncoding('utf8').on('data', (chunk) => (texts.stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk) => (texts.stderr += chunk));
  const exit = once(child, 'exit').then(([code, signal]) => ({ code, signal }) as Exit);
  const pid = child.pid ?? 0;
  onTestFinished(async () => {
    if (!isAlive(pid)) return;
    child.kill('SIGTERM');
    await exit;
  });
  return {
    child,
    pid,
    exit,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    signalGroup: (signal) => process.kill(-pid, signal),
  };
}

/** Waits until a daemon serves a home whose pid is as wanted. */
export async function serving(
  home: Home,
  isWanted: (pid: number) => boolean = (pid) => pid !== 0,
): Promise<Daemon> {
  const pid = await until(() => servingPid(home).then((found) => (isWanted(found) ? found : undefined)));
  return home.adopt(pid);
}

/** 0 where none serves. */
export async function servingPid({ socket }: Home): Promise<number> {
  try {
    const fleet = await connectFleet({ socket });
    const { daemon } = await fleet.status([]);
    fleet.close();
    return daemon.pid;
  } catch {
    return 0;
  }
}
