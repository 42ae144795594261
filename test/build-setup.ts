import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, runFolder } from './support/run.js';

const run = promisify(execFile);

/**
 * End-to-end tests run what users run: the build, with the types of the library. Each run of vitest has its own, so that
 * two runs do not disturb each other. `npm test` has made one already (TOOLHERD_BUILT), which is copied.
 */
export async function setup(): Promise<void> {
  const dist = join(runFolder(), 'dist');
  const built = process.env.TOOLHERD_BUILT;
  if (built === undefined) {
    await run(process.execPath, [join(ROOT, 'scripts', 'build', 'build.mjs'), dist]);
    await run(process.execPath, [join(ROOT, 'scripts', 'build', 'types.mjs'), dist]);
  } else cpSync(built, dist, { recursive: true });
  process.env.TOOLHERD_TEST_DIST = dist;
}
