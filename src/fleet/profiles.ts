import type { Surface, SurfaceMode } from '../shared/mcp/surface.js';
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
  /** The estimated tokens of the tool definitions, as in `status` and `tools --tokens`. */
  tokens: number;
  /**
   * What its agents see, unless their client chooses the mode. `lists`: what the mode means with the tools that are known now:
   * all of them, or those of search mode.
   */
  surface: {
    mode: SurfaceMode;
    above_tokens: Surface['aboveTokens'];
    always: string[];
    lists: 'all' | 'search';
  };
  /** Globs and keys of the config that fit no tool that is known. */
  unmatched: string[];
  /** Servers whose tools are not known (yet). */
  missing: MissingList[];
}
