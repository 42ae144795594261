import { execFile } from 'node:child_process';
import { join } from 'node:path';

/** Built by the global setup. */
export const DIST = process.env.TOOLHERD_TEST_DIST ?? '';
export const COMMAND = join(DIST, 'bin', 'main.cjs');

export interface Outcome {
  status: number;
  stdout: string;
  stderr: string;
}

/** Runs the built command as a user would, in a home of its own. */
export function toolherd(
  args: readonly string[],
  { cwd, env = {}, input }: { cwd: string; env?: Record<string, string>; input?: string },
): Promise<Outcome> {
  const environment = { PATH: process.env.PATH ?? '', HOME: cwd, TOOLHERD_HOME: join(cwd, 'home'), ...env };
  return new Promise((resolve) => {
    const options = { cwd, env: environment };
    const child = execFile(process.execPath, [COMMAND, ...args], options, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr });
    });
    if (input !== undefined) child.stdin?.end(input);
  });
}
