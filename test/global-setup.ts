import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** The tests of the command run what users run: the built one. */
export function setup(): void {
  execFileSync(process.execPath, [join(import.meta.dirname, '..', 'scripts', 'build.mjs')], {
    stdio: 'inherit',
  });
}
