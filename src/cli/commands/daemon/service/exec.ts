import { execa } from 'execa';
import type { Words } from './unit.js';

export interface Outcome {
  /** Undefined: there is no such program. */
  status: number | undefined;
  /** What it wrote to stderr. */
  said: string;
}

/** Runs a program of the system to its end. */
export async function runWords([program, ...args]: Words, environment: NodeJS.ProcessEnv): Promise<Outcome> {
  const { exitCode, isTerminated, stderr } = await execa(program, args, {
    ...{ env: environment, extendEnv: false, reject: false },
    ...{ stdin: 'ignore', stdout: 'ignore' },
  });
  return { status: exitCode ?? (isTerminated ? 1 : undefined), said: stderr.trim() };
}
