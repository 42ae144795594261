import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { DaemonStatus } from '../../fleet/fleet.js';
import { parseReadiness, type StartFailure } from '../../fleet/readiness.js';
import { lockFileOf } from '../../ipc/socket/socket-owner.js';
import { daemonLog } from '../../log/log-paths.js';
import { ToolherdError } from '../../shared/errors.js';
import type { CommandContext } from '../core/command.js';
import { limitByTimeoutOption } from '../core/timeout.js';
import { socketOf } from './connect.js';
import { isEnding, isServing, lookForDaemon, waitForDaemonExit } from './find-daemon.js';

const TICK_MS = 1000;

/** An error of the daemon's start, as it came over the pipe; it keeps its own type. */
class DaemonStartError extends ToolherdError {
  override readonly type: string;
  readonly problems: StartFailure['problems'];
  constructor({ type, message, why, fix, problems }: StartFailure) {
    super(message, { why, fix });
    this.type = type;
    this.problems = problems;
  }
}

/** The daemon's own program, beside the command. */
const DAEMON = 'daemon.cjs';

/** The arguments with which the daemon finds the same files as this call. */
export function daemonArguments({ globals }: CommandContext, { replace }: StartOptions = {}): string[] {
  const pass = (name: 'config' | 'socket') => {
    const value = globals[name];
    return value === undefined ? [] : [`--${name}`, value];
  };
  return [join(__dirname, DAEMON), ...pass('config'), ...pass('socket'), ...(replace ? ['--replace'] : [])];
}

export interface StartOptions {
  /** A daemon that runs is asked to end first; the one that is started takes its place, or fails. */
  replace?: boolean;
}

/** Without TOOLHERD_COOKIE, which marks the processes of a server: their daemon would kill one that was started inside. */
function daemonEnvironment({ environment }: CommandContext): Record<string, string | undefined> {
  const { TOOLHERD_COOKIE: _, ...rest } = environment;
  return rest;
}

export interface Started {
  pid: number;
  servers: number;
}

/** The old daemon may take long to end: the terminal shows that, and --timeout ends the wait. */
async function whileReplacing(context: CommandContext, started: Promise<void>): Promise<void> {
  const startedAt = Date.now();
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    context.output.progress(`waiting for the old daemon to end, ${seconds}s`);
  }, TICK_MS);
  try {
    await limitByTimeoutOption(context, started);
  } finally {
    clearInterval(timer);
    context.output.progress(undefined);
  }
}

/** Starts the daemon in the background, and resolves when its socket serves. */
export async function startDaemon(context: CommandContext, options?: StartOptions): Promise<Started> {
  const child = spawn(process.execPath, daemonArguments(context, options), {
    cwd: context.cwd,
    env: daemonEnvironment(context),
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const pipe = child.stdio[3];
  if (pipe === null || pipe === undefined || !('setEncoding' in pipe))
    throw new Error('no pipe to the daemon');
  pipe.setEncoding('utf8');
  let text = '';
  pipe.on('data', (chunk: string) => {
    text += chunk;
  });
  const reported = new Promise<void>((resolve, reject) => {
    pipe.once('close', () => resolve());
    child.once('error', reject);
  });
  try {
    await (options?.replace ? whileReplacing(context, reported) : reported);
  } finally {
    // when --timeout is over first, the daemon goes on without this command
    pipe.destroy();
    child.unref();
  }
  const readiness = parseReadiness(text);
  if (readiness?.ready === true) return readiness;
  throw new DaemonStartError(
    readiness?.error ?? {
      type: 'DaemonStartError',
      message: 'the daemon ended before it served',
      fix: `see ${daemonLog(context.paths.logFolder)}, or run: toolherd up --foreground`,
    },
  );
}

/** How long to try while a daemon has the lock and neither serves nor is ending. */
const LOCK_WAIT_MS = 10_000;
/** How long to wait for the socket of a daemon that has the lock, before the next try to start one. */
const CONNECT_WAIT_MS = 1000;

/**
 * Finds the daemon that serves, or starts one, after waiting for one that is ending. Both are tried in turn until one
 * succeeds: a killed daemon holds the lock a little longer than it lives, another command may start one in the same
 * moment, and a successor waits for the daemon that it replaces.
 */
export async function ensureDaemon(
  context: CommandContext,
): Promise<{ started: Started } | { found: DaemonStatus }> {
  let absentMs = 0;
  for (let deadline = Date.now() + LOCK_WAIT_MS; Date.now() < deadline; ) {
    const found = await lookForDaemon(context, absentMs);
    if (isServing(found)) return { found };
    if (isEnding(found)) {
      await waitForDaemonExit(context, found);
      deadline = Date.now() + LOCK_WAIT_MS;
      continue;
    }
    try {
      return { started: await startDaemon(context) };
    } catch (error) {
      if ((error as Partial<DaemonStartError>).type !== 'AlreadyRunningError') throw error;
    }
    absentMs = CONNECT_WAIT_MS;
  }
  throw new DaemonStartError({
    type: 'DaemonStartError',
    message: `another daemon has the lock of ${socketOf(context)}, but does not serve`,
    fix: `end it; its pid is in ${lockFileOf(socketOf(context))}`,
  });
}
