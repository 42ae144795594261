import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ToolherdError } from '../../shared/errors.js';
import type { CommandContext } from '../core/command.js';
import { withTimeout } from '../core/timeout.js';

const TICK_MS = 1000;

/** What the daemon says once, on a pipe, when it serves or when it cannot. */
export type Readiness =
  | { ready: true; pid: number; servers: number }
  | {
      ready: false;
      error: { type: string; message: string; why?: string; fix?: string; problems?: unknown };
    };

/** An error of the daemon's start, as it came over the pipe; it keeps its own type. */
export class DaemonStartError extends ToolherdError {
  override readonly type: string;
  readonly problems: unknown;
  constructor({ type, message, why, fix, problems }: Extract<Readiness, { ready: false }>['error']) {
    super(message, { why, fix });
    this.type = type;
    this.problems = problems;
  }
}

/** The daemon's own program, beside the command. */
export const DAEMON = 'daemon.cjs';

/** The arguments with which the daemon finds the same files as this call. */
export function daemonArguments({ flags }: CommandContext, { replace }: StartOptions = {}): string[] {
  const pass = (name: 'config' | 'socket') =>
    typeof flags[name] === 'string' ? [`--${name}`, flags[name]] : [];
  return [join(__dirname, DAEMON), ...pass('config'), ...pass('socket'), ...(replace ? ['--replace'] : [])];
}

export interface StartOptions {
  /** A daemon that runs is asked to end first; the one that is started takes its place, or fails. */
  replace?: boolean;
}

/** Without the mark of another daemon's child: started from inside a server, it would be taken for one and killed. */
function daemonEnvironment({ environment }: CommandContext): Record<string, string | undefined> {
  const { TOOLHERD_COOKIE: _, ...rest } = environment;
  return rest;
}

export interface Started {
  pid: number;
  servers: number;
}

/** The old daemon may take long to end: a person sees what is waited for, and --timeout ends the wait. */
async function whileReplacing(call: CommandContext, started: Promise<void>): Promise<void> {
  const startedAt = Date.now();
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    call.output.progress(`waiting for the old daemon to end, ${seconds}s`);
  }, TICK_MS);
  try {
    await withTimeout(call, started);
  } finally {
    clearInterval(timer);
    call.output.progress(undefined);
  }
}

/** Starts the daemon in the background, and resolves when its socket serves. */
export async function startDaemon(call: CommandContext, options?: StartOptions): Promise<Started> {
  const child = spawn(process.execPath, daemonArguments(call, options), {
    cwd: call.cwd,
    env: daemonEnvironment(call),
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
  const said = new Promise<void>((resolve, reject) => {
    pipe.once('close', () => resolve());
    child.once('error', reject);
  });
  try {
    await (options?.replace ? whileReplacing(call, said) : said);
  } finally {
    // where --timeout was over first, it goes on without this command
    pipe.destroy();
    child.unref();
  }
  const readiness: Readiness | undefined = text === '' ? undefined : JSON.parse(text);
  if (readiness?.ready === true) return readiness;
  throw new DaemonStartError(
    readiness?.error ?? {
      type: 'DaemonStartError',
      message: 'the daemon ended before it served',
      fix: `see ${join(call.paths.logFolder, 'daemon.log')}, or run: toolherd up --foreground`,
    },
  );
}
