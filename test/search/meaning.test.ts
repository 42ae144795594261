import { describe, expect, it } from 'vitest';
import { fuse, nearest, textOfTool } from '../../src/search/meaning.js';

const match = (item: string, score = 1, isNamed = false) => ({ item, score, isNamed });
const namesOf = (matches: readonly { item: string }[]) => matches.map(({ item }) => item);

describe('fuse', () => {
  it('puts tools that both rankings have before those that one has', () => {
    const fused = fuse([match('a'), match('b')], [match('c'), match('b')], 10);
    expect(namesOf(fused)).toEqual(['b', 'a', 'c']);
  });

  it('gives the first of both rankings the score 1', () => {
    expect(fuse([match('a', 70)], [match('a', 0.2)], 10)).toEqual([match('a')]);
  });

  it('keeps a tool whose name has every word of the query before all others', () => {
    const byWords = [match('named', 9, true), match('b'), match('c')];
    expect(namesOf(fuse(byWords, [match('c'), match('b')], 10))).toEqual(['named', 'c', 'b']);
  });

  it('has at most as many as asked for, and finds what one ranking alone has', () => {
    expect(namesOf(fuse([], [match('x'), match('y'), match('z')], 2))).toEqual(['x', 'y']);
    expect(namesOf(fuse([match('a')], [], 2))).toEqual(['a']);
  });
});

describe('nearest', () => {
  it('has the tools that are nearer to the best than to the average, the best first', () => {
    const all = [match('far', 0.1), match('near', 0.7), match('best', 0.9), match('off', 0.2)];
    expect(namesOf(nearest(all))).toEqual(['best', 'near']);
  });

  it('has nothing where all are equally near', () => {
    expect(nearest([match('a', 0.5), match('b', 0.5)])).toEqual([]);
    expect(nearest([])).toEqual([]);
  });
});

it('the text of a tool has names, title and description, no arguments, 1,500 characters at most', () => {
  const definition = {
    name: 'send',
    title: 'Send',
    description: 'Sends a mail.',
    annotations: { title: 'Send' },
    inputSchema: { properties: { secret: { description: 'hidden' } } },
  };
  expect(textOfTool('post', definition)).toBe('post send\nSend\nSends a mail.');
  expect(textOfTool('post', { name: 'x', description: 'long '.repeat(1000) })).toHaveLength(1500);
});
