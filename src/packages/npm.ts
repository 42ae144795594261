import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { signalGroup } from '../processes/group.js';
import { spawnShortage } from '../processes/spawn-shortage.js';
import type { ProcessTable } from '../processes/table.js';
import { limitConcurrency, onAbort } from '../shared/async.js';
import type { Clock } from '../shared/clock.js';
import { findProgram, isProgram } from './files.js';

export interface NpmDeps {
  table: ProcessTable;
  clock: Clock;
}

export interface NpmRun {
  /** Of npm-cli.js. */
  program: string;
  args: readonly string[];
  cwd: string;
  /** The environment of the server, with this cookie. */
  env(cookie: string): Record<string, string>;
  /** The server that it is for. */
  server: string;
  limitMs: number;
  signal: AbortSignal;
  stderr?(chunk: Buffer): void;
}

export interface NpmEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  /** Why it could not be started. */
  error?: Error;
  isLate: boolean;
}

const MOST_STDOUT = 2 ** 20;
/** A program that an install script left running may hold the pipes open. */
const PIPES_MS = 500;

/** npm takes a whole core and 100 MB: a herd that starts must not run twenty. */
const MOST_AT_ONCE = 4;
const inTurn = limitConcurrency(MOST_AT_ONCE);

/**
 * Runs npm in its own process group, which the table of processes knows: it is killed with the daemon, however the daemon
 * ends. It gets KILL at once when it is cancelled or late, because the folder in which it works is discarded. When npm has
 * exited, its group is killed too. Never rejects.
 */
export function runNpm(deps: NpmDeps, run: NpmRun): Promise<NpmEnd> {
  return inTurn(async () => (run.signal.aborted ? ended({}) : runNow(deps, run)));
}

function runNow(deps: NpmDeps, run: NpmRun): Promise<NpmEnd> {
  const cookie = deps.table.newCookie();
  const child = start(run, cookie);
  if (child instanceof Error) return Promise.resolve(ended({ error: child }));
  const { pid } = child;
  return new Promise((resolve) => {
    if (pid === undefined) {
      child.once('error', (error) => resolve(ended({ error })));
      return;
    }
    deps.table.add({ pid, name: run.server, cookie });
    const stdout: Buffer[] = [];
    let size = 0;
    let isLate = false;
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MOST_STDOUT) stdout.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => run.stderr?.(chunk));
    for (const emitter of [child, child.stdout, child.stderr]) emitter.on('error', () => undefined);
    const kill = () => signalGroup(pid, 'SIGKILL');
    const forget = onAbort(run.signal, kill);
    const timer = deps.clock.setTimeout(() => {
      isLate = true;
      kill();
    }, run.limitMs);
    child.once('exit', (code, signal) => {
      deps.clock.clearTimeout(timer);
      forget();
      kill();
      const pipes = deps.clock.setTimeout(() => {
        for (const stream of [child.stdout, child.stderr]) stream.destroy();
      }, PIPES_MS);
      child.once('close', () => {
        deps.clock.clearTimeout(pipes);
        void deps.table.sweep(cookie).then(() => {
          deps.table.remove(pid);
          resolve(ended({ code, signal, isLate, stdout: Buffer.concat(stdout).toString('utf8') }));
        });
      });
    });
  });
}

function ended(end: Partial<NpmEnd>): NpmEnd {
  return { code: null, signal: null, stdout: '', isLate: false, ...end };
}

/** Node throws some errors and reports others as an event. */
function start({ program, args, cwd, env }: NpmRun, cookie: string) {
  const shortage = spawnShortage();
  if (shortage !== undefined) return shortage;
  try {
    return spawn(program, args, { cwd, env: env(cookie), detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/**
 * The npm-cli.js beside the npx that this command means. Undefined where that npx is none of npm's: a wrapper or the shim
 * of a version manager may do more than npm.
 */
export function findNpm(command: string, path: string): string | undefined {
  const npx = command.includes('/') ? command : findProgram(command, path.split(delimiter));
  if (npx === undefined) return undefined;
  try {
    const file = realpathSync(npx);
    const npm = join(dirname(file), 'npm-cli.js');
    return basename(file) === 'npx-cli.js' && isProgram(npm) ? npm : undefined;
  } catch {
    return undefined;
  }
}
