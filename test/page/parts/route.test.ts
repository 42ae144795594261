import { describe, expect, it } from 'vitest';
import { href, parseRoute } from '../../../src/page/parts/route.js';

describe('addresses of the page', () => {
  it('a name with any characters comes back from its address', () => {
    const name = 'a/b ?#%é';
    const { page, rest, query } = parseRoute(href('server', [name], { tab: 'logs' }));
    expect({ page, rest, tab: query.get('tab') }).toEqual({ page: 'server', rest: [name], tab: 'logs' });
  });

  it('an empty value is not in the address', () => {
    expect(href('herd', [], { filter: '', state: undefined })).toBe('#/herd');
  });

  it('a malformed address is the first page', () => {
    expect(parseRoute('#/%E0%A4%A')).toMatchObject({ page: '', rest: [] });
    expect(parseRoute('')).toMatchObject({ page: '' });
  });
});
