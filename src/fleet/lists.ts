import type { ListKey } from './status.js';

export interface ToolEntry {
  server: string;
  name: string;
  exposed_name: string;
  description: string | null;
  input_schema: unknown;
  /** What is wrong with its definition. It is listed and can be called all the same. */
  problem?: string;
  /** True when this is what its server offered before the daemon began, and it has not run since. */
  cached?: boolean;
  /** Why it cannot be called: it is not what was pinned. Agents do not see it. */
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

/** Many resources at once: the names in braces are to be filled in. */
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

/** A list that is not in the answer, or not as its server has it now. */
export interface MissingList {
  server: string;
  list: ListKey;
  /** Why, and when it is expected, in a sentence. */
  reason: string;
}

/** `missing`: servers whose tools are not in it (yet). Empty where all are. */
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
