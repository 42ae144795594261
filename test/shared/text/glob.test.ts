import { describe, expect, it } from 'vitest';
import { nameFilter } from '../../../src/shared/text/glob.js';

describe('a glob', () => {
  it('matches as a whole, and dots are ordinary', () => {
    const isTool = nameFilter(['git.log', 'hub.*_issue']);
    expect(['git.log', 'hub.get_issue', 'gitxlog', 'git.logs', 'hub.issue'].filter(isTool)).toEqual([
      'git.log',
      'hub.get_issue',
    ]);
  });
});
