import type { Environment } from '../../shared/environment.js';
import type { Separator } from '../../shared/mcp/separators.js';
import type { Fields } from './fields.js';
import type { References } from './references.js';

/** What the paths of a client's files depend on. */
export interface Machine {
  platform: string;
  home: string;
  environment: Environment;
}

/** `user`: a file in the user's home. `project`: a file in a project folder. */
export type Scope = 'user' | 'project';

/** The program that a client should run. */
export interface Program {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}

/** A program with a list of MCP servers in a config file: where the file is, its format, and the form of an entry. */
export interface Client {
  name: string;
  /** As its makers write it. */
  title: string;
  format: 'json' | 'toml' | 'yaml';
  /** The user's files that may hold its servers, the most likely first. */
  user(machine: Machine): readonly string[];
  /** The files of a project, relative to its folder; empty for a client without project files. */
  project: readonly string[];
  /** Relative paths start in the folder of the file, not in the client's working directory. */
  pathsStartAtFile?: boolean;
  /** The path of keys to the servers. */
  keys: readonly string[];
  /** The servers are a list of entries with a `name`, not a map. */
  listed?: boolean;
  /** The path of keys to the servers that the user's file holds for one project. */
  keysOfProject?(folder: string): readonly string[];
  /** How each field becomes one of ours. All other fields are unsupported. */
  fields: Fields;
  /** Where the client's entry has a value that ours has at this place (`env.TOKEN`). By default at the same place. */
  placeOf?(place: string, raw: Readonly<Record<string, unknown>>): string;
  references: References;
  /** The client's entry for a program. Undefined for a client that cannot run toolherd. */
  toClientEntry: ((program: Program) => Record<string, unknown>) | undefined;
  /** The text of a new file, where the client needs more than servers in it or would add it. By default empty. */
  newFile?: string;
  /** The separator of tool names, for a client that refuses the usual one. */
  separator?: Separator;
  /** What the user does before the client connects, by the scope of the file that `attach` changed. */
  next: Readonly<{ user: string; project?: string }>;
}

/** The step of a client that reads its file when it starts. */
export const newSession = (title: string): string => `start a new session of ${title}`;

/** The form of an entry that most clients share. */
export function commonEntry({ command, args, env }: Program): Record<string, unknown> {
  return { command, args, ...(Object.keys(env).length === 0 ? {} : { env }) };
}
