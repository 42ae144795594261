import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { replaceRegion } from '../../scripts/shared/markdown.mjs';
import { ROOT } from './run.js';

export { markdownTable } from '../../scripts/shared/markdown.mjs';

export const hasDoc = (file: string): boolean => existsSync(join(ROOT, file));

export const readDoc = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** A file that code writes. With UPDATE_DOCS=1 (`npm run docs`) it is written, otherwise compared. */
export function expectDoc(file: string, text: string): void {
  const known = hasDoc(file) ? readDoc(file) : '';
  if (process.env.UPDATE_DOCS !== '1') expect(known).toBe(text);
  // files with regions of several tests are written by tests that run at once
  else if (known !== text) writeFileSync(join(ROOT, file), text);
}

/** The region of a file that code writes, between `<!-- generated: NAME -->` and `<!-- end -->`. */
export function expectRegion(file: string, name: string, text: string): void {
  expectDoc(file, replaceRegion(readDoc(file), name, text));
}
