import { expect, it } from 'vitest';
import { isGood, type Soak, soakText } from '../../bench/soak/report.mjs';
import { expectRegion, readDoc } from '../support/docs.js';

const kept = JSON.parse(readDoc('docs/dashboard/soak.json')) as Soak;

it('docs/DASHBOARD.md has the soak that is kept (npm run docs)', () => {
  expectRegion('docs/DASHBOARD.md', 'soak', soakText(kept));
});

it('a soak is good with a small tab, all events, and clients that are as fast as without the page', () => {
  const good: Soak = {
    ...kept,
    calls_per_s: 1000,
    tab_bytes: { first: 0, median: 2 ** 20, most: 2 ** 20 },
    p99_ms: { with: 1.3, without: 1 },
  };
  expect(isGood(good)).toBe(true);
  expect(isGood({ ...good, calls_per_s: 900 })).toBe(false);
  expect(isGood({ ...good, tab_bytes: { ...good.tab_bytes, most: 150 * 2 ** 20 } })).toBe(false);
  expect(isGood({ ...good, p99_ms: { with: 1.31, without: 1 } })).toBe(false);
});
