import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';

/** A program and its arguments. No shell interprets them. */
export type Argv = readonly [string, ...string[]];

interface RunResult {
  /** Undefined: there is no such program. */
  status: number | undefined;
  stderr: string;
}

/** Runs a program of the system to its end. */
export async function runProgram([program, ...args]: Argv, env: NodeJS.ProcessEnv): Promise<RunResult> {
  const { exitCode, isTerminated, stderr } = await execa(program, args, {
    ...{ env, extendEnv: false, reject: false },
    ...{ stdin: 'ignore', stdout: 'ignore' },
  });
  return { status: exitCode ?? (isTerminated ? 1 : undefined), stderr: stderr.trim() };
}

/** Starts a program that outlives the command. A program that does not exist is ignored. */
export function startProgram([program, ...args]: Argv, env: NodeJS.ProcessEnv): void {
  const options = { env, extendEnv: false, reject: false, cleanup: false, detached: true } as const;
  execa(program, args, { ...options, stdio: 'ignore' }).unref();
}

/**
 * Starts a program that may outlive the command. Answers with its exit status, `running` after so many milliseconds, or
 * undefined where there is no such program.
 */
export async function runBriefly(
  [program, ...args]: Argv,
  env: NodeJS.ProcessEnv,
  ms: number,
): Promise<number | 'running' | undefined> {
  const options = { env, extendEnv: false, reject: false, cleanup: false, detached: true } as const;
  const started = execa(program, args, { ...options, stdio: 'ignore' });
  started.unref();
  const ended = started.then(({ exitCode, isTerminated }) => exitCode ?? (isTerminated ? 1 : undefined));
  const done = new AbortController();
  const late = sleep(ms, 'running' as const, { signal: done.signal });
  late.catch(() => undefined);
  return Promise.race([ended, late]).finally(() => done.abort());
}
