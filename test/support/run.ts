import { mkdirSync, mkdtempSync } from 'node:fs';
import { basename, join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

/** A folder for one run of vitest. Its name is in the name of every folder that the run's tests make. */
export function runFolder(): string {
  const known = process.env.TOOLHERD_TEST_RUN;
  if (known !== undefined) return known;
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, '.cache', 'test-run-'));
  process.env.TOOLHERD_TEST_RUN = folder;
  return folder;
}

/** How the folders of one run's tests begin, so that two runs at a time do not blame each other. */
export const folderPrefix = (): string => `toolherd-${basename(runFolder()).slice(-6)}-`;
