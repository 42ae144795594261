import type { MissingList } from './lists.js';

export interface SearchParams {
  /** What the tool should do, in words. */
  query: string;
  /** How many tools at most; default 10. */
  limit?: number | undefined;
  /** Only tools of this server. */
  server?: string | undefined;
}

/** A tool that a search found. */
export interface ToolMatch {
  server: string;
  name: string;
  exposed_name: string;
  /** Its name and arguments in one line: `read_file(path: string, head?: number)`. */
  signature: string;
  /** The first sentence of its description. */
  description: string;
  /** Higher is better; scores of two searches cannot be compared. */
  score: number;
}

/** `missing`: servers whose tools the search did not know (yet). */
export interface SearchResult {
  /** The best first. */
  tools: ToolMatch[];
  missing: MissingList[];
  /** Where nothing was found: sentences that say why, and what to try. */
  hints: string[];
}
