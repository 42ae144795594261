import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** The tests of the command run what users run, the built one: built anew for this run, in a folder of its own. */
export function setup(): () => void {
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  const dist = mkdtempSync(join(ROOT, '.cache', 'test-dist-'));
  execFileSync(process.execPath, [join(ROOT, 'scripts', 'build.mjs'), dist], { stdio: 'inherit' });
  process.env.TOOLHERD_TEST_DIST = dist;
  return () => rmSync(dist, { recursive: true, force: true });
}
