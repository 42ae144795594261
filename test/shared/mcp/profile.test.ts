import { describe, expect, it } from 'vitest';
import { ownerFilter, toolFilter } from '../../../src/shared/mcp/profile.js';

describe('a glob of server.tool', () => {
  it.each([
    ['git.*', 'git', 'log', true],
    ['git.*', 'git.internal', 'log', false],
    ['git.internal.*', 'git.internal', 'log', true],
    ['*', 'git.internal', 'log', true],
    ['*.log', 'git.internal', 'log', true],
    ['g?t.l*', 'git', 'log', true],
    ['git.log.all', 'git', 'log.all', true],
    ['git.log', 'git', 'logs', false],
    ['git', 'git', 'log', false],
    ['', 'git', 'log', false],
  ])('%s has the tool of %s, %s: %s', (glob, server, tool, has) => {
    expect(toolFilter([glob])(server, tool)).toBe(has);
  });

  it.each([
    ['git.*', 'git', true],
    ['git.*', 'git.internal', false],
    ['*', 'git', true],
    ['git', 'git', false],
    ['hub.*', 'git', false],
  ])('%s may have a tool of %s: %s', (glob, server, may) => {
    expect(ownerFilter([glob])(server)).toBe(may);
  });
});
