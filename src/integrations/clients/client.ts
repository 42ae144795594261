import type { Environment } from '../../shared/environment.js';
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
  /** The path of keys to the servers that the user's file holds for one project. */
  keysOfProject?(folder: string): readonly string[];
  /** How each field becomes one of ours. All other fields are unsupported. */
  fields: Fields;
  /** Where the client has a value that our entry has at this place (`env.TOKEN`). By default at the same place. */
  placeOf?(place: string): string;
  references: References;
  /** What the client asks of the user before it starts a server of this file. */
  asks?: Partial<Record<Scope, string>>;
  /** The client's entry for a program. Undefined for a client that cannot run toolherd. */
  toClientEntry: ((program: Program) => Record<string, unknown>) | undefined;
}

/** The form of an entry that most clients share. */
export function commonEntry({ command, args, env }: Program): Record<string, unknown> {
  return { command, args, ...(Object.keys(env).length === 0 ? {} : { env }) };
}
