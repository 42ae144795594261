import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './run.js';

/** Made by test/build-setup.ts, for the project e2e only. A test belongs to e2e because it imports this file. */
export const DIST = process.env.TOOLHERD_TEST_DIST ?? '';
if (DIST === '')
  throw new Error('this test needs the build: start vitest again, it sorts the tests at its start');
/** The script that makes a build. */
export const BUILD = join(ROOT, 'scripts', 'build', 'build.mjs');
export const COMMAND = join(DIST, 'bin', 'main.cjs');

export interface Outcome {
  status: number;
  stdout: string;
  stderr: string;
}

/** Runs the built command as a user would, in its own home folder. */
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
