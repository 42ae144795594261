import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');

export const hasDoc = (file: string): boolean => existsSync(join(ROOT, file));

export const readDoc = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** The region of a file that is made by code. `npm run docs` writes it anew instead of comparing it. */
export function expectRegion(file: string, name: string, text: string): void {
  const begin = `<!-- generated: ${name} -->\n`;
  const whole = readDoc(file);
  const start = whole.indexOf(begin);
  const end = whole.indexOf('<!-- end -->', start);
  expect(start).toBeGreaterThan(-1);
  const fresh = `\n${text}\n\n`;
  if (process.env.UPDATE_DOCS === '1')
    writeFileSync(join(ROOT, file), whole.slice(0, start + begin.length) + fresh + whole.slice(end));
  else expect(whole.slice(start + begin.length, end)).toBe(fresh);
}

export function markdownTable(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
}
