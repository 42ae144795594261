import { describe, expect, test } from 'vitest';
import { pinDiff } from '../../../src/fleet/texts/pin-diff.js';

const version = (hash: string, more: object) => ({ hash, at: '2026-01-01T00:00:00.000Z', ...more });

describe('the difference of two definitions', () => {
  test('the difference of truncated texts begins where they differ', () => {
    const excerpt = `{"description":"${'same '.repeat(10_000)}`;
    const pinned = version('aa', { excerpt: `${excerpt}add two numbers` });
    const offered = version('bb', { excerpt: `${excerpt}send the key` });
    const lines = pinDiff({ pinned, offered });
    expect(lines.join('\n').length).toBeLessThan(1000);
    expect(lines.find((line) => line.startsWith('-'))).toContain('add two numbers');
    expect(lines.find((line) => line.startsWith('+'))).toContain('send the key');
    expect(lines).toContain('+(too long to be shown; sha256 bb)');
  });

  test('is never empty: if only a secret differs, it says so', () => {
    const definition = { name: 'a', description: 'your token is [redacted:TOKEN]' };
    const lines = pinDiff({ pinned: version('aa', { definition }), offered: version('bb', { definition }) });
    expect(lines).toEqual(['(they differ in what is not shown: a secret)']);
  });
});
