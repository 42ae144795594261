import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ToolherdError } from '../errors.js';
import type { Call } from './verb.js';

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
export function daemonArguments({ flags }: Call): string[] {
  const pass = (name: 'config' | 'socket') =>
    typeof flags[name] === 'string' ? [`--${name}`, flags[name]] : [];
  return [join(__dirname, DAEMON), ...pass('config'), ...pass('socket')];
}

/** Without the mark of another daemon's child: started from inside a server, it would be taken for one and killed. */
export function daemonEnvironment({ environment }: Call): Record<string, string | undefined> {
  const { TOOLHERD_COOKIE: _, ...rest } = environment;
  return rest;
}

export interface Started {
  pid: number;
  servers: number;
}

/** Starts the daemon in the background, and resolves when its socket serves. Undefined when it is another's. */
export async function startDaemon(call: Call): Promise<Started | undefined> {
  const child = spawn(process.execPath, daemonArguments(call), {
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
  await new Promise<void>((resolve, reject) => {
    pipe.once('close', () => resolve());
    child.once('error', reject);
  });
  child.unref();
  const said: Readiness | undefined = text === '' ? undefined : JSON.parse(text);
  if (said?.ready === true) return said;
  if (said?.error.type === 'AlreadyRunningError') return undefined;
  throw new DaemonStartError(
    said?.error ?? {
      type: 'DaemonStartError',
      message: 'the daemon ended before it served',
      fix: `see ${join(call.paths.logFolder, 'daemon.log')}, or run: toolherd up --foreground`,
    },
  );
}
