import { type QueryWord, queryWords } from './query-words.js';
import type { ToolDocument } from './tool-document.js';

/** How soon more of the same word counts no more (k1 of BM25). */
const SATURATION = 1.5;
/** A stem that begins as the word does counts this much of it. */
const SIMILAR = 0.7;
/** Stems that have so many first letters in common can be similar. */
const BEGINNING = 4;
/** The part of a score that depends on how much of the query was found, not only on how well. */
const COVERAGE = 0.2;
/** What the calls of a tool add at most: enough to decide between two tools that fit equally well. */
const MOST_FOR_CALLS = 0.05;
/** The number of calls that brings half of it. */
const HALF_CALLS = 5;
/** Tools that fit less than this part of the best are left out: they share a word that says little. */
const LEAST = 0.1;

/** Which tools have a stem, and how much it says about each. */
interface Postings {
  slots: number[];
  /** From 0 to 1. */
  shares: number[];
}

interface Entry<T> {
  group: string;
  /** Its place in the group. */
  place: number;
  item: T;
  document: ToolDocument;
}

export interface Ranked<T> {
  item: T;
  score: number;
}

export interface Match<T> extends Ranked<T> {
  /** The score without what calls and the name bring. */
  fit: number;
  /** Its name has every word of the query. */
  isNamed: boolean;
}

export interface SearchOptions<T> {
  limit: number;
  /** Only of this group. */
  group?: string | undefined;
  /** Whether an item may be found. It is asked only for items that are among the best so far. */
  accept?(item: T): boolean;
  /** How often it was called. */
  callsOf?(item: T): number;
}

/**
 * An inverted index of tools with the ranking of BM25F. The tools of a server are a group: to replace a group leaves all
 * others as they are.
 */
export class ToolIndex<T> {
  readonly #postings = new Map<string, Postings>();
  /** The stems by their first letters. */
  readonly #beginnings = new Map<string, Set<string>>();
  readonly #entries: (Entry<T> | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #groups = new Map<string, number[]>();
  #scores = new Float64Array(64);
  /** The best contribution of the present word to each tool. */
  #parts = new Float64Array(64);
  /** How much of the query each tool has. */
  #found = new Float64Array(64);
  /** How many words of the query each tool has literally. */
  #literal = new Uint8Array(64);

  get size(): number {
    return this.#entries.length - this.#free.length;
  }

  add(group: string, item: T, document: ToolDocument): void {
    const slot = this.#free.pop() ?? this.#entries.length;
    const slots = this.#groups.get(group) ?? [];
    this.#entries[slot] = { group, place: slots.length, item, document };
    this.#groups.set(group, slots);
    slots.push(slot);
    for (const [one, weight] of document.weights) {
      const share = weight / (SATURATION + weight);
      const postings = this.#postings.get(one);
      if (postings === undefined) {
        this.#postings.set(one, { slots: [slot], shares: [share] });
        this.#note(one);
      } else {
        postings.slots.push(slot);
        postings.shares.push(share);
      }
    }
  }

  remove(group: string): void {
    const slots = new Set(this.#groups.get(group));
    this.#groups.delete(group);
    const touched = new Set<string>();
    for (const slot of slots)
      for (const one of this.#entries[slot]!.document.weights.keys()) touched.add(one);
    for (const one of touched) this.#prune(one, slots);
    for (const slot of slots) {
      this.#entries[slot] = undefined;
      this.#free.push(slot);
    }
  }

  /** The best tools for a query, the best first. Equals are in the order of their groups' names, then of their group. */
  search(query: string, { limit, group, accept, callsOf }: SearchOptions<T>): Match<T>[] {
    const words = queryWords(query).map(
      ({ isWhole, alternatives: [own, ...others] }): QueryWord => ({
        isWhole,
        alternatives: [own, ...others, ...(isWhole ? this.#similar(own[0]) : [])],
      }),
    );
    const slots = this.#score(words);
    const whole = words.reduce((sum, { alternatives }) => sum + this.#most(alternatives), 0);
    const literal = words.filter(({ isWhole }) => isWhole).map(({ alternatives: [[own]] }) => own);
    const best = new Best<T>(limit);
    for (const slot of slots) {
      const entry = this.#entries[slot]!;
      const { item, document } = entry;
      const covered = 1 - COVERAGE + (COVERAGE * this.#found[slot]!) / whole;
      // words alone bring at most `whole`, and calls 5 % more: a name with every word of the query comes before all others
      const isNamed =
        this.#literal[slot] === literal.length && literal.every((one) => document.name.has(one));
      const fit = this.#scores[slot]! * covered;
      const score = fit + (isNamed ? 2 * whole : 0);
      this.#scores[slot] = 0;
      this.#found[slot] = 0;
      this.#literal[slot] = 0;
      if (!best.admits(score * (1 + MOST_FOR_CALLS)) || (group !== undefined && group !== entry.group))
        continue;
      const calls = callsOf?.(item) ?? 0;
      const withCalls = score * (1 + (MOST_FOR_CALLS * calls) / (calls + HALF_CALLS));
      if (best.admits(withCalls) && accept?.(item) !== false)
        best.add({ entry, score: withCalls, fit, isNamed });
    }
    return best.matches();
  }

  /** Adds up the scores of all words; answers with the tools that have one. */
  #score(words: readonly QueryWord[]): number[] {
    this.#grow();
    const found: number[] = [];
    for (const { alternatives, isWhole } of words) {
      const most = this.#most(alternatives);
      const touched: number[] = [];
      // a synonym that is rarer than the word itself says no more than the word
      const [[own]] = alternatives;
      const ownRarity = this.#rarity(own);
      for (const [one, factor] of alternatives) {
        const postings = this.#postings.get(one);
        if (postings === undefined) continue;
        const rarity = factor * Math.min(this.#rarity(one), ownRarity);
        const { slots, shares } = postings;
        for (let at = 0; at < slots.length; at++) {
          const slot = slots[at]!;
          const part = rarity * shares[at]!;
          if (this.#parts[slot] === 0) touched.push(slot);
          if (part > this.#parts[slot]!) this.#parts[slot] = part;
          if (isWhole && one === own) this.#literal[slot]! += 1;
        }
      }
      for (const slot of touched) {
        if (this.#scores[slot] === 0) found.push(slot);
        this.#scores[slot]! += this.#parts[slot]!;
        this.#found[slot]! += most;
        this.#parts[slot] = 0;
      }
    }
    return found;
  }

  /** The most that a word can add to a score. */
  #most(alternatives: QueryWord['alternatives']): number {
    const own = this.#rarity(alternatives[0][0]);
    let most = 0;
    for (const [one, factor] of alternatives)
      if (this.#postings.has(one)) most = Math.max(most, factor * Math.min(own, this.#rarity(one)));
    return most;
  }

  /** The inverse document frequency. Infinite for a word that no tool has. */
  #rarity(one: string): number {
    const count = this.#postings.get(one)?.slots.length;
    if (count === undefined) return Number.POSITIVE_INFINITY;
    return Math.log(1 + (this.size - count + 0.5) / (count + 0.5));
  }

  #note(one: string): void {
    const beginning = one.slice(0, BEGINNING);
    const known = this.#beginnings.get(beginning);
    if (known === undefined) this.#beginnings.set(beginning, new Set([one]));
    else known.add(one);
  }

  /** A word that no tool has may be the beginning of one, or have one as its beginning: `mongo` and `mongodb`. */
  #similar(own: string): [one: string, factor: number][] {
    if (own.length < BEGINNING || this.#postings.has(own)) return [];
    const known = this.#beginnings.get(own.slice(0, BEGINNING)) ?? [];
    return [...known]
      .filter((one) => one.length >= BEGINNING && (one.startsWith(own) || own.startsWith(one)))
      .map((one) => [one, SIMILAR]);
  }

  #prune(one: string, gone: ReadonlySet<number>): void {
    const { slots, shares } = this.#postings.get(one)!;
    const kept: Postings = { slots: [], shares: [] };
    for (let at = 0; at < slots.length; at++) {
      if (gone.has(slots[at]!)) continue;
      kept.slots.push(slots[at]!);
      kept.shares.push(shares[at]!);
    }
    if (kept.slots.length === 0) {
      this.#postings.delete(one);
      this.#beginnings.get(one.slice(0, BEGINNING))?.delete(one);
    } else this.#postings.set(one, kept);
  }

  #grow(): void {
    const { length } = this.#entries;
    if (this.#scores.length >= length) return;
    this.#scores = new Float64Array(2 * length);
    this.#parts = new Float64Array(2 * length);
    this.#found = new Float64Array(2 * length);
    this.#literal = new Uint8Array(2 * length);
  }
}

interface Found<T> extends Omit<Match<T>, 'item'> {
  entry: Entry<T>;
}

/** The best so many, in order. A sort of all that match would take longer than the search. */
class Best<T> {
  readonly #limit: number;
  readonly #found: Found<T>[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  admits(score: number): boolean {
    return (
      this.#found.length < this.#limit || score >= (this.#found.at(-1)?.score ?? Number.POSITIVE_INFINITY)
    );
  }

  add(one: Found<T>): void {
    const found = this.#found;
    let at = found.length;
    while (at > 0 && isBefore(one, found[at - 1]!)) at -= 1;
    found.splice(at, 0, one);
    if (found.length > this.#limit) found.pop();
  }

  matches(): Match<T>[] {
    const least = LEAST * this.#found.reduce((most, { fit }) => Math.max(most, fit), 0);
    return this.#found
      .filter(({ fit }) => fit >= least)
      .map(({ entry: { item }, score, fit, isNamed }) => ({ item, score, fit, isNamed }));
  }
}

/** Equal scores are ordered by names, so that an answer does not depend on which server was indexed last. */
function isBefore<T>({ entry, score }: Found<T>, other: Found<T>): boolean {
  if (score !== other.score) return score > other.score;
  const { group, place } = other.entry;
  return entry.group === group ? entry.place < place : entry.group < group;
}
