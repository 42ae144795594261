import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALL_IDS } from './requirements.js';

const TEST_NAME =
  /\b(?:it|test|describe)(?:\.each\([\s\S]*?\)|\.concurrent)?\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1/g;
const ID = /\b(?:FR-\d{3}|SC-\d{3}|US\d\.\d|[PSUCXLI]\d{1,2})\b/g;

function citedIds(): Map<string, string[]> {
  const cited = new Map<string, string[]>();
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => name.endsWith('.test.ts'))) {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8');
    for (const [, , name = ''] of text.matchAll(TEST_NAME)) {
      for (const [id] of name.matchAll(ID)) cited.set(id, [...(cited.get(id) ?? []), file]);
    }
  }
  return cited;
}

describe('the list of requirements', () => {
  const cited = citedIds();

  it('every id is proved by a test that cites it', () => {
    expect(ALL_IDS.filter((id) => !cited.has(id))).toEqual([]);
  });

  it('every id that a test cites is on the list', () => {
    expect([...cited.keys()].filter((id) => !ALL_IDS.includes(id))).toEqual([]);
  });

  it('no id is listed twice', () => {
    expect(new Set(ALL_IDS).size).toBe(ALL_IDS.length);
  });
});
