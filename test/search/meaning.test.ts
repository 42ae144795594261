import { describe, expect, it } from 'vitest';
import { fuse, textOfTool } from '../../src/search/meaning.js';

const match = (item: string, score = 1, isNamed = false) => ({ item, score, isNamed });
const namesOf = (matches: readonly { item: string }[]) => matches.map(({ item }) => item);

describe('fuse', () => {
  it('counts words and meaning alike: the best of both has the score 1', () => {
    const fused = fuse([match('both', 8), match('words', 6)], [match('both', 0.9), match('far', 0.1)], 10);
    expect(fused).toEqual([match('both', 1), match('words', 0.375)]);
  });

  it('puts a tool that both find before one that only words or only meaning find best', () => {
    const cosines = [match('meant', 0.9), match('both', 0.8), match('words', 0.1), match('far', 0)];
    expect(namesOf(fuse([match('words', 9), match('both', 7)], cosines, 10))).toEqual([
      'both',
      'words',
      'meant',
    ]);
  });

  it('keeps a tool whose name has every word of the query before all others', () => {
    const byWords = [match('named', 9, true), match('b', 2), match('c', 2)];
    expect(namesOf(fuse(byWords, [match('c', 0.9), match('named', 0.1)], 10))).toEqual(['named', 'c', 'b']);
  });

  it('finds by meaning alone what is nearer to the best than to the average, whatever the model calls near', () => {
    for (const scale of [1, 0.01]) {
      const cosines = [0.1, 0.7, 0.9, 0.2].map((score, at) => match(`${at}`, 0.5 + scale * score));
      expect(namesOf(fuse([], cosines, 10))).toEqual(['2', '1']);
    }
  });

  it('finds nothing by meaning where all are equally near, and what words find without any vectors', () => {
    expect(fuse([], [match('a', 0.5), match('b', 0.5)], 10)).toEqual([]);
    expect(namesOf(fuse([match('a', 3)], [], 10))).toEqual(['a']);
  });

  it('has at most as many as asked for', () => {
    expect(namesOf(fuse([match('a', 3), match('b', 2)], [], 1))).toEqual(['a']);
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
