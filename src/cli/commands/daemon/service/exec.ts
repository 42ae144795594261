import { execa } from 'execa';
import type { Argv } from './unit.js';

export interface ExecResult {
  /** Undefined: there is no such program. */
  status: number | undefined;
  stderr: string;
}

/** Runs a program of the system to its end. */
export async function exec([program, ...args]: Argv, environment: NodeJS.ProcessEnv): Promise<ExecResult> {
  const { exitCode, isTerminated, stderr } = await execa(program, args, {
    ...{ env: environment, extendEnv: false, reject: false },
    ...{ stdin: 'ignore', stdout: 'ignore' },
  });
  return { status: exitCode ?? (isTerminated ? 1 : undefined), stderr: stderr.trim() };
}
