import { describe, expect, it } from 'vitest';
import { SYNONYMS } from '../../src/search/synonyms.js';
import { joinedStems, nameWords, proseWords, stem, stemsOf } from '../../src/search/words.js';

describe('the words of a name', () => {
  it.each([
    ['read_text_file', ['read', 'text', 'file']],
    ['readTextFile', ['read', 'text', 'file']],
    ['read-text.file', ['read', 'text', 'file']],
    ['HTTPServer', ['http', 'server']],
    ['getV2User', ['get', 'v2', 'user']],
    ['API-get-block-children', ['api', 'get', 'block', 'children']],
    ['base64_decode', ['base64', 'decode']],
    ['say it', ['say', 'it']],
    ['__', []],
  ])('%s are split at case, underscores, hyphens and dots', (name, words) => {
    expect(nameWords(name)).toEqual(words);
  });
});

describe('the words of a sentence', () => {
  it('keep a name of a thing whole, and split an identifier', () => {
    expect(proseWords('Ask GitHub with listIssues, or a repo’s PostgreSQL')).toEqual([
      'ask',
      'github',
      'with',
      'list',
      'issues',
      'or',
      'a',
      'repo',
      'postgresql',
    ]);
  });

  it('are pairs of characters in a script without spaces', () => {
    expect(proseWords('查询日期 v2')).toEqual(['查询', '询日', '日期', 'v2']);
    expect(proseWords('用API查')).toEqual(['用', 'api', '查']);
  });

  it('that are longer than any word, or come after the first thousands of characters, do not count', () => {
    expect(proseWords('x'.repeat(41))).toEqual([]);
    expect(proseWords('word '.repeat(10_000)).length).toBeLessThan(2000);
  });
});

describe('stems', () => {
  it('are the same for the forms of a word; words of grammar have none', () => {
    expect(stemsOf(['please', 'list', 'all', 'the', 'files'])).toEqual([stem('list'), stem('file')]);
    expect(new Set(['create', 'creates', 'created', 'creating'].map(stem)).size).toBe(1);
  });

  it('are the same in British and in American English', () => {
    for (const [british, american] of [
      ['visualise', 'visualize'],
      ['organisation', 'organization'],
      ['analysed', 'analyzed'],
    ] as const)
      expect(stem(british)).toBe(stem(american));
  });

  it('join neighbours, so that file_system is found as filesystem', () => {
    expect(joinedStems(['read', 'file', 'system'])).toContain(stem('filesystem'));
    expect(joinedStems(['list', 'of', 'files'])).toEqual([]);
  });
});

describe('synonyms', () => {
  it('hold both ways, and no word is its own synonym', () => {
    for (const [one, others] of SYNONYMS) {
      expect(others).not.toContain(one);
      for (const other of others) expect(SYNONYMS.get(other)).toContain(one);
    }
  });
});
