import type { JsonObject } from '../shared/json.js';
import { isObject } from '../shared/json.js';
import type { Match, Ranked } from './tool-index.js';

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

/** How much meaning counts; words count the rest. */
const MEANING = 0.5;
/** A tool that words do not find is found if it is this near: 1 as near as the nearest, 0 as near as the average. */
const NEAR = 0.5;

/**
 * One ranking of two: the scores by words as parts of the best, and the cosines as parts of the way from their average to the
 * best, since models differ in what they call near. Tools whose name has every word of the query stay before all others.
 * `cosines`: of all tools that may be found.
 */
export function fuse<T>(
  byWords: readonly Match<T>[],
  cosines: readonly Ranked<T>[],
  limit: number,
): Ranked<T>[] {
  const mean = cosines.reduce((sum, { score }) => sum + score, 0) / cosines.length;
  const best = cosines.reduce((most, { score }) => Math.max(most, score), mean);
  const nearness = new Map<T, number>();
  for (const { item, score } of cosines) if (score > mean) nearness.set(item, (score - mean) / (best - mean));
  const most = byWords.reduce((best, { fit }) => Math.max(best, fit), 0);
  const found = byWords.map(({ item, fit, isNamed }) => {
    const near = nearness.get(item) ?? 0;
    nearness.delete(item);
    return { item, score: (1 - MEANING) * (fit / most) + MEANING * near + (isNamed ? 1 : 0) };
  });
  for (const [item, near] of nearness) if (near >= NEAR) found.push({ item, score: MEANING * near });
  // a sort keeps the order of equals: those that words found come first
  return found.sort((a, b) => b.score - a.score).slice(0, limit);
}
