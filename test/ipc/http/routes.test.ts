import { describe, expect, it } from 'vitest';
import { isSameScope, routeOf, type Scope } from '../../../src/ipc/http/routes.js';

const scopeOf = (path: string): Scope | undefined => {
  const route = routeOf(path, 'trusted');
  return route?.kind === 'mcp' ? route.scope : undefined;
};

describe('a path of the herd', () => {
  it.each([
    ['/mcp', undefined, undefined],
    ['/s/my%20server/mcp', undefined, 'my server'],
    ['/p/review/mcp', 'review', undefined],
    ['/p/review/s/git/mcp?separator=_', 'review', 'git'],
  ])('%s leads to profile %s and server %s', (path, profile, server) => {
    expect(scopeOf(path)).toMatchObject({ profile, server });
  });

  it.each(['/p/mcp', '/p//mcp', '/p/%/mcp', '/s/git/p/review/mcp', '/p/a/p/b/mcp', '/mcp/'])(
    '%s leads nowhere',
    (path) => expect(routeOf(path, 'trusted')).toBeUndefined(),
  );

  it('has another scope with another profile', () => {
    expect(isSameScope(scopeOf('/p/a/mcp')!, scopeOf('/p/a/mcp')!)).toBe(true);
    expect(isSameScope(scopeOf('/p/a/mcp')!, scopeOf('/p/b/mcp')!)).toBe(false);
    expect(isSameScope(scopeOf('/p/a/mcp')!, scopeOf('/mcp')!)).toBe(false);
  });
});
