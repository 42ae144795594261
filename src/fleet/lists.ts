import type { ListKey } from './status.js';

export interface ToolEntry {
  server: string;
  name: string;
  exposed_name: string;
  /** What a client of this server alone calls it instead of `name`, because of the profile of the connection. */
  alias?: string;
  description: string | null;
  input_schema: unknown;
  /** What is wrong with its definition. It is listed, and can be called. */
  problem?: string;
  /** True where the server has not run since the daemon started: this is from an earlier daemon. */
  cached?: boolean;
  /** Why it cannot be called: it differs from its pin. Agents do not see it. */
  blocked?: string;
  [more: string]: unknown;
}

/** `problem` and `cached`: as those of a tool. */
export interface PromptEntry {
  server: string;
  name: string;
  exposed_name: string;
  description: string | null;
  /** As the server describes them: `name`, `description`, `required`. */
  arguments: unknown[];
  problem?: string;
  cached?: boolean;
  [more: string]: unknown;
}

export interface ResourceEntry {
  server: string;
  uri: string;
  name: string;
  description: string | null;
  mime_type: string | null;
  problem?: string;
  cached?: boolean;
  [more: string]: unknown;
}

/** A URI template: a client fills in the names in braces. */
export interface TemplateEntry {
  server: string;
  uri_template: string;
  name: string;
  description: string | null;
  mime_type: string | null;
  problem?: string;
  cached?: boolean;
  [more: string]: unknown;
}

/** A list that is missing in the answer, or may be outdated. */
export interface MissingList {
  server: string;
  list: ListKey;
  /** Why, and when it is expected, in a sentence. */
  reason: string;
}

/** `missing`: servers whose tools are not in the list (yet). */
export interface ToolList {
  tools: ToolEntry[];
  missing: MissingList[];
}

export interface PromptList {
  prompts: PromptEntry[];
  missing: MissingList[];
}

export interface ResourceLists {
  resources: ResourceEntry[];
  templates: TemplateEntry[];
  missing: MissingList[];
}

/**
 * For how long a list waits for a server whose list is not known: not at all, `daemon.list_wait`, or as long as the
 * server may take to start.
 */
export type Patience = 'none' | 'list_wait' | 'start_timeout';
