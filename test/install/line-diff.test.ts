import { describe, expect, it } from 'vitest';
import { fileDiff } from '../../src/install/line-diff.js';

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`);
const text = (lines: readonly string[]) => `${lines.join('\n')}\n`;

describe('the diff of a file', () => {
  it('shows two changes far apart as two hunks, and no line between them as changed', () => {
    const before = numbered(30);
    const after = before.map((line, index) => (index === 1 || index === 27 ? `${line}!` : line));
    const diff = fileDiff('f', text(before), text(after));
    expect(diff.match(/^@@ .*$/gm)).toEqual(['@@ -1,5 +1,5 @@', '@@ -25,6 +25,6 @@']);
    expect(diff.match(/^[-+](?!--|\+\+).*$/gm)).toEqual(['-line 2', '+line 2!', '-line 28', '+line 28!']);
  });

  it('shows that a secret changed, and not the secret', () => {
    const diff = fileDiff('f', 'env:\n  API_KEY: one-secret\n', 'env:\n  API_KEY: another-secret\n');
    expect(diff).toMatch(/^-.*API_KEY/m);
    expect(diff).not.toMatch(/one-secret|another-secret/);
  });

  it('shows texts with very many differences as one hunk', () => {
    const [before, after] = [numbered(3000), numbered(3000).map((line) => `other ${line}`)];
    expect(fileDiff('f', text(before), text(after))).toContain('@@ -1,3000 +1,3000 @@');
  });
});
