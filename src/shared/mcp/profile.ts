import type { JsonObject } from '../json.js';
import { mayBeginWith, nameFilter } from '../text/glob.js';
import type { Surface } from './surface.js';

/** A named part of the herd. Keys of its maps are `server.tool`. */
export interface Profile {
  name: string;
  /** Where it is declared. */
  file: string;
  description: string | undefined;
  /** Globs of servers. Undefined: the servers of which a glob of `tools` may match a tool. */
  servers: readonly string[] | undefined;
  /** Globs of `server.tool`. */
  tools: readonly string[];
  /** Public names. */
  rename: Readonly<Record<string, string>>;
  /** Descriptions for the model. */
  describe: Readonly<Record<string, string>>;
  /** Arguments that are filled in, and hidden from the schema. */
  defaults: Readonly<Record<string, JsonObject>>;
  /** Instead of the same parts of `daemon.surface`. */
  surface: Partial<Surface>;
}

/** How a profile names a tool. With an empty tool: how the keys of a server begin. */
export function toolKey(server: string, tool: string): string {
  return `${server}.${tool}`;
}

/** Whether a server of this name belongs to the profile. */
export function serverFilter({ servers, tools }: Profile): (server: string) => boolean {
  if (servers !== undefined) return nameFilter(servers);
  return (server) => tools.some((glob) => mayBeginWith(glob, toolKey(server, '')));
}
