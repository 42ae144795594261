import type { MissingList } from './lists.js';

/** What a profile offers, and what its list of tools costs an agent. */
export interface ProfileReport {
  name: string;
  description: string | null;
  /** Where it is declared. */
  file: string;
  servers: string[];
  /** Public names. */
  tools: string[];
  /** Tools that have another name, by `server.tool`. */
  renamed: Record<string, string>;
  /** The estimated tokens of the tool definitions: their characters divided by 4. */
  tokens: number;
  /** Globs and keys of the config that fit no tool that is known. */
  unmatched: string[];
  /** Servers whose tools are not known (yet). */
  missing: MissingList[];
}
