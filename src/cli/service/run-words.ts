import { spawn } from 'node:child_process';
import type { Words } from './service.js';

export interface Outcome {
  /** Undefined: there is no such program. */
  status: number | undefined;
  /** What it wrote to stderr. */
  said: string;
}

/** Runs a program of the system to its end. */
export function runWords([program, ...args]: Words, environment: NodeJS.ProcessEnv): Promise<Outcome> {
  const child = spawn(program, args, { env: environment, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  return new Promise((resolve) => {
    child.once('error', () => resolve({ status: undefined, said }));
    child.once('close', (code) => resolve({ status: code ?? 1, said: said.trim() }));
  });
}
