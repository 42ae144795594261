import { describe, expect, it } from 'vitest';
import { callMatcher } from '../../../src/fleet/call-matcher.js';
import { joined, paramsOf, readFilter } from '../../../src/page/calls/call-filter.js';
import { callOf } from '../support.js';

const filterOf = (query: string) => readFilter(new URLSearchParams(query));

describe('the filter of calls', () => {
  it('the audit is asked only for what is chosen', () => {
    expect(paramsOf(filterOf('server=github&outcome=failed'))).toEqual({
      server: 'github',
      outcome: 'failed',
    });
    expect(paramsOf(filterOf('outcome=strange'))).toEqual({});
  });

  it.each([
    ['server=github', true],
    ['server=files', false],
    ['tool=search&outcome=ok', true],
    ['outcome=failed', false],
    ['caller=c2', false],
    ['text=CLAUDE', true],
    ['text=codex', false],
  ])('a live call is in the list with %s: %s', (query, isIn) => {
    expect(callMatcher(paramsOf(filterOf(query)))(callOf())).toBe(isIn);
  });

  it('a call that is both live and fetched is shown once', () => {
    const [first, second] = [callOf(), callOf({ request_id: '1-2' })];
    expect(joined([second, first], [first])).toEqual([second, first]);
  });
});
