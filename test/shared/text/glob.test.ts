import { describe, expect, it } from 'vitest';
import { mayBeginWith, nameFilter } from '../../../src/shared/text/glob.js';

describe('a glob', () => {
  it.each([
    ['git.*', 'git.', true],
    ['*', 'git.', true],
    ['g?t.log', 'git.', true],
    ['*.log', 'my.hub.', true],
    ['git.log', 'hub.', false],
    ['git', 'git.', false],
    ['hub.*', 'git.', false],
    ['', 'git.', false],
  ])('%s may match a text that begins with %s: %s', (glob, beginning, may) => {
    expect(mayBeginWith(glob, beginning)).toBe(may);
  });

  it('matches as a whole, and dots are ordinary', () => {
    const isTool = nameFilter(['git.log', 'hub.*_issue']);
    expect(['git.log', 'hub.get_issue', 'gitxlog', 'git.logs', 'hub.issue'].filter(isTool)).toEqual([
      'git.log',
      'hub.get_issue',
    ]);
  });
});
