import { describe, expect, it } from 'vitest';
import { indexOf, quality } from '../../bench/search/measure.mjs';
import { idOf, ownSet } from '../../bench/search/sets.mjs';
import { qualityTable } from '../../bench/search/tables.mjs';
import * as signatures from '../../src/search/signature.js';
import * as documents from '../../src/search/tool-document.js';
import * as indexes from '../../src/search/tool-index.js';
import { nameWords, proseWords, stemsOf } from '../../src/search/words.js';
import { expectRegion } from '../support/docs.js';

const SEARCH = { ...indexes, ...documents, ...signatures };
/** Below what the ranking reaches, so that a change may trade a few queries for others. */
const FLOORS = { hitAt1: 0.36, recallAt5: 0.64, recallAt10: 0.77, ndcgAt10: 0.57 };

describe('the golden set', () => {
  const set = ownSet();
  const measured = quality(indexOf(SEARCH, set.tools), set);

  it.each(Object.entries(FLOORS))('is found with %s of at least %d', (name, floor) => {
    expect(measured[name as keyof typeof FLOORS]).toBeGreaterThanOrEqual(floor);
  });

  it('is in docs/SEARCH.md as it is found (npm run docs)', () => {
    expectRegion('docs/SEARCH.md', 'own set', qualityTable([{ title: set.title, ...measured }]));
  });

  it('has only tools that were recorded, and graded from 1 to 2', () => {
    const known = new Set(set.tools.map(idOf));
    const labels = set.queries.flatMap((one) => [...one.labels]);
    expect(labels.filter(([id, grade]) => !known.has(id) || ![1, 2].includes(grade))).toEqual([]);
    expect(set.queries.every(({ labels: { size } }) => size > 0)).toBe(true);
  });

  it('has no query that names its tool', () => {
    const naming = set.queries.filter(({ query, labels }) => {
      const words = new Set(stemsOf(proseWords(query)));
      return [...labels].some(([id, grade]) => {
        const [server = '', ...rest] = id.split('.');
        const own = stemsOf(nameWords(rest.join('.'))).filter(
          (one) => !stemsOf(nameWords(server)).includes(one),
        );
        return grade === 2 && own.length > 1 && own.every((one) => words.has(one));
      });
    });
    expect(naming.map(({ query }) => query)).toEqual([]);
  });
});
