import type { JsonObject } from '../json.js';
import { nameFilter } from '../text/glob.js';
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
  return servers === undefined ? ownerFilter(tools) : nameFilter(servers);
}

/** Whether one of these globs of `server.tool` may match a tool of this server. */
export function ownerFilter(globs: readonly string[]): (server: string) => boolean {
  return nameFilter(globs.flatMap(parted).map(([server]) => server));
}

/** Whether one of these globs of `server.tool` matches. Each part has to fit: `git.*` has no tool of `git.internal`. */
export function toolFilter(globs: readonly string[]): (server: string, tool: string) => boolean {
  const parts = globs
    .flatMap(parted)
    .map(([server, tool]) => [nameFilter([server]), nameFilter([tool])] as const);
  return (server, tool) => parts.some(([isServer, isTool]) => isServer(server) && isTool(tool));
}

/** A name may have dots, so each of them may be the one between server and tool. `*` has both. */
function parted(glob: string): [server: string, tool: string][] {
  const dots = [...glob.matchAll(/\./g)].map(({ index }) => index);
  if (dots.length === 0) return glob.includes('*') ? [[glob, '*']] : [];
  return dots.map((dot) => [glob.slice(0, dot), glob.slice(dot + 1)]);
}
