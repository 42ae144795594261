import type { JsonObject } from '../shared/json.js';
import { isObject } from '../shared/json.js';
import type { Match } from './tool-index.js';

/** Of length 1, so that the product of two vectors is their cosine. */
export type Vector = Float32Array;

/** Vectors of texts from a service that the config names. Texts that mean the same have similar vectors. */
export interface ToolVectors {
  /** Undefined: it is not known yet, and is asked for in the background. */
  of(text: string): Vector | undefined;
  /** Undefined: there was none in time, and words alone rank. */
  ofQuery(query: string): Promise<Vector | undefined>;
}

/** Small models read 512 tokens at most. */
const LONGEST_TEXT = 1500;

/** What is sent of a tool: the names of server and tool, its title and its description. */
export function textOfTool(server: string, { name, title, annotations, description }: JsonObject): string {
  const titles = [title, isObject(annotations) ? annotations.title : undefined];
  const said = [...new Set([...titles, description])].filter(
    (text) => typeof text === 'string' && text !== '',
  );
  return [`${server} ${String(name)}`, ...said].join('\n').slice(0, LONGEST_TEXT);
}

export function cosine(one: Vector, other: Vector): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += one[at]! * other[at]!;
  return sum;
}

/** Tools that are not this near to the best, as a part of its distance from the average, are not meant. */
const NEAR = 0.5;

/** The tools whose texts come nearest to the query, the best first. How near is near depends on the model and the query. */
export function nearest<T>(all: readonly Match<T>[]): Match<T>[] {
  const mean = all.reduce((sum, { score }) => sum + score, 0) / all.length;
  const best = all.reduce((most, { score }) => Math.max(most, score), mean);
  return all
    .filter(({ score }) => score > mean && score - mean >= NEAR * (best - mean))
    .sort((a, b) => b.score - a.score);
}

/** The usual constant of reciprocal rank fusion: how much the first ranks differ. */
const RANKS = 60;

/**
 * One ranking of two by reciprocal rank fusion: it compares ranks, as scores of words and cosines cannot be compared. Tools
 * whose name has every word of the query stay before all others. The score of the first of both is 1.
 */
export function fuse<T>(
  byWords: readonly Match<T>[],
  byMeaning: readonly Match<T>[],
  limit: number,
): Match<T>[] {
  const fused = new Map<T, Match<T>>();
  const add = ({ item, isNamed }: Match<T>, rank: number) => {
    const part = (RANKS + 1) / (RANKS + 1 + rank) / 2;
    const known = fused.get(item);
    if (known === undefined) fused.set(item, { item, score: part + (isNamed ? 1 : 0), isNamed });
    else known.score += part;
  };
  byWords.forEach(add);
  byMeaning.forEach(add);
  // a sort keeps the order of equals: those that words found come first
  return [...fused.values()].sort((a, b) => b.score - a.score).slice(0, limit);
}
