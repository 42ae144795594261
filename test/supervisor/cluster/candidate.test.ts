import { describe, expect, test } from 'vitest';
import { type Candidate, chooseNode, type Readiness } from '../../../src/supervisor/cluster/candidate.js';

function candidate(node: string | undefined, readiness: Readiness, load = 0): Candidate {
  return { node, readiness, load, send: () => undefined, ended: () => undefined };
}

const HERE = undefined;
const chosen = (isBalanced: boolean, ...all: [string | undefined, Readiness, number?][]) =>
  chooseNode(
    all.map((one) => candidate(...one)),
    isBalanced,
  )?.node;

describe('the node for a call', () => {
  test.each(['ready', 'starts'] as const)(
    'is this one where it is not balanced and this one %s',
    (readiness) => {
      expect(chosen(false, [HERE, readiness, 9], ['b', 'ready', 0])).toBe(HERE);
    },
  );

  test.each(['tries', 'refuses'] as const)(
    'is another one that can take it while this one %s',
    (readiness) => {
      expect(chosen(false, [HERE, readiness], ['b', 'ready', 7])).toBe('b');
      expect(chosen(false, [HERE, readiness], ['b', 'starts', 7])).toBe('b');
    },
  );

  test('is the least busy of those that are ready, before one that would start', () => {
    expect(chosen(true, [HERE, 'starts', 0], ['b', 'ready', 3], ['c', 'ready', 2])).toBe('c');
  });

  test('is the least busy of those that would start, where none is ready', () => {
    expect(chosen(true, [HERE, 'starts', 2], ['b', 'starts', 1], ['c', 'tries', 0])).toBe('b');
  });

  test('is this one among equals', () => {
    expect(chosen(true, [HERE, 'ready', 1], ['b', 'ready', 1])).toBe(HERE);
  });

  test('is one that does not say that it can take it, before one that would refuse it', () => {
    expect(chosen(false, [HERE, 'refuses'], ['b', 'tries', 5])).toBe('b');
  });

  test('is none where all were tried', () => {
    const all = [candidate('b', 'ready'), candidate('c', 'ready')];
    expect(chooseNode(all, false, [all[0]!])).toBe(all[1]);
    expect(chooseNode(all, false, all)).toBeUndefined();
    expect(chooseNode([], false)).toBeUndefined();
  });
});
