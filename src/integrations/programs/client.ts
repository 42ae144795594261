import type { Fields } from './fields.js';
import type { References } from './references.js';

/** As much of the machine as the files of a client depend on. */
export interface Machine {
  platform: string;
  home: string;
  environment: Readonly<Record<string, string | undefined>>;
}

/** Whose file it is: the user's own, or one that stands in a project. */
export type Scope = 'user' | 'project';

/** What a client is to run. */
export interface Program {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}

/** A program that keeps a list of MCP servers in a file: where, in what form, and how an entry is spelled. */
export interface Client {
  name: string;
  /** As its makers write it. */
  title: string;
  format: 'json' | 'toml' | 'yaml';
  /** The user's files that may hold its servers, the likeliest first. */
  user(machine: Machine): readonly string[];
  /** The files of a project, relative to its folder; none where the client knows no such thing. */
  project: readonly string[];
  /** Its relative paths start in the folder of the file, not where the client was started. */
  startsAtFile?: boolean;
  /** The keys that lead to its servers. */
  keys: readonly string[];
  /** The keys to servers that the user's file keeps for one project alone. */
  keysOfProject?(folder: string): readonly string[];
  /** What its fields mean here. A field that is not among them has no home here. */
  fields: Fields;
  references: References;
  /** An entry that runs a program. Undefined: it runs programs of its own choice only. */
  spell: ((program: Program) => Record<string, unknown>) | undefined;
}

/** The entry as most clients spell it. */
export function commonEntry({ command, args, env }: Program): Record<string, unknown> {
  return { command, args, ...(Object.keys(env).length === 0 ? {} : { env }) };
}
