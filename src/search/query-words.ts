import { SYNONYMS } from './synonyms.js';
import { isWeak, joinedStems, proseWords, stem, stemsOf } from './words.js';

/** A synonym counts this much of the word itself. */
const SYNONYM = 0.5;
/** A weak word counts this much where it stands. */
const WEAK = 0.5;
/** A longer query is cut: an agent may send its whole task. */
const MOST_STEMS = 64;

/** One word of a query. */
export interface QueryWord {
  /** It stands in the query as it is; false: it is two neighbours joined. */
  isWhole: boolean;
  /** Its stem, then its synonyms, each with how much it counts. */
  alternatives: readonly [[own: string, factor: number], ...[one: string, factor: number][]];
}

/** Each different word once. A query of nothing but words of grammar is taken as it is. */
export function queryWords(query: string): QueryWord[] {
  const words = proseWords(query);
  const stems = stemsOf(words);
  const whole = new Set((stems.length > 0 ? stems : words.map(stem)).slice(0, MOST_STEMS));
  const joined = new Set(joinedStems(words).slice(0, MOST_STEMS));
  const found: QueryWord[] = [];
  for (const one of whole) {
    const synonyms = (SYNONYMS.get(one) ?? []).map((other): [string, number] => [other, SYNONYM]);
    found.push({ isWhole: true, alternatives: [[one, isWeak(one) ? WEAK : 1], ...synonyms] });
  }
  for (const one of joined) if (!whole.has(one)) found.push({ isWhole: false, alternatives: [[one, 1]] });
  return found;
}
