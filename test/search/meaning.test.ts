import { describe, expect, it } from 'vitest';
import { fuse, textOfTool } from '../../src/search/meaning.js';

const ranked = (item: string, score: number) => ({ item, score });
const match = (item: string, fit = 1, isNamed = false) => ({
  ...ranked(item, isNamed ? fit + 10 : fit),
  fit,
  isNamed,
});
const namesOf = (matches: readonly { item: string }[]) => matches.map(({ item }) => item);

describe('fuse', () => {
  it('counts words and meaning alike: the best of both has the score 1', () => {
    const fused = fuse([match('both', 8), match('words', 6)], [ranked('both', 0.9), ranked('far', 0.1)], 10);
    expect(fused).toEqual([ranked('both', 1), ranked('words', 0.375)]);
  });

  it('puts a tool that both find before one that only words or only meaning find best', () => {
    const cosines = [ranked('meant', 0.9), ranked('both', 0.8), ranked('words', 0.1), ranked('far', 0)];
    expect(namesOf(fuse([match('words', 9), match('both', 7)], cosines, 10))).toEqual([
      'both',
      'words',
      'meant',
    ]);
  });

  it('keeps a tool whose name has every word of the query before all others', () => {
    const byWords = [match('named', 9, true), match('b', 2), match('c', 2)];
    expect(namesOf(fuse(byWords, [ranked('c', 0.9), ranked('named', 0.1)], 10))).toEqual(['named', 'c', 'b']);
  });

  it('counts words as much where a name has every word of the query', () => {
    const byWords = [match('named', 9, true), match('words', 8), match('few words', 2)];
    const cosines = [ranked('meant', 0.9), ranked('words', 0.1), ranked('far', 0)];
    expect(namesOf(fuse(byWords, cosines, 3))).toEqual(['named', 'meant', 'words']);
    expect(fuse(byWords, [], 3)[1]!.score).toBeCloseTo(8 / 9 / 2);
  });

  it('finds by meaning alone what is nearer to the best than to the average, whatever the model calls near', () => {
    for (const scale of [1, 0.01]) {
      const cosines = [0.1, 0.7, 0.9, 0.2].map((score, at) => ranked(`${at}`, 0.5 + scale * score));
      expect(namesOf(fuse([], cosines, 10))).toEqual(['2', '1']);
    }
  });

  it('finds nothing by meaning where all are equally near, and what words find without any vectors', () => {
    expect(fuse([], [ranked('a', 0.5), ranked('b', 0.5)], 10)).toEqual([]);
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
