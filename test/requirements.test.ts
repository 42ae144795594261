import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { REQUIREMENTS } from '../scripts/shared/requirements.mjs';
import { requirementsIn, testNames } from '../scripts/shared/test-names.mjs';

const IDS = REQUIREMENTS.map(({ id }) => id);

function citedIds(): Set<string> {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });
  const names = files
    .filter((name) => name.endsWith('.test.ts'))
    .flatMap((file) => testNames(readFileSync(join(import.meta.dirname, file), 'utf8')));
  return new Set(names.flatMap(requirementsIn));
}

describe('docs/spec/requirements.md', () => {
  const cited = citedIds();

  it('has every kind of requirement, each id once', () => {
    const kinds = new Set(IDS.map((id) => id.replace(/[\d.-]+$/, '')));
    expect([...kinds].sort()).toEqual(['C', 'FR', 'I', 'L', 'P', 'S', 'SC', 'U', 'US', 'X']);
    expect(IDS).toHaveLength(118);
    expect(new Set(IDS).size).toBe(IDS.length);
  });

  it('every id is proved by a test that cites it', () => {
    expect(IDS.filter((id) => !cited.has(id))).toEqual([]);
  });

  it('every id that a test cites has its sentence there', () => {
    expect([...cited].filter((id) => !IDS.includes(id))).toEqual([]);
    expect(REQUIREMENTS.filter(({ text }) => !/\w/.test(text))).toEqual([]);
  });
});
