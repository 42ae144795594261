import { createHash } from 'node:crypto';
import type { NamedList } from '../../fleet/fleet.js';
import type { JsonObject } from '../../shared/json.js';
import {
  DEFAULT_SEPARATOR,
  joinNames,
  type NameForm,
  publicNamePrefix,
  type Separator,
} from '../../shared/mcp/separators.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { ProfileLens } from './profile-lens.js';

/** Longer names are refused by some models' tool interfaces. */
const LONGEST = 64;
const HASH_LENGTH = 8;
const LONGEST_PREFIX = LONGEST - HASH_LENGTH - 1;

/** The name of a tool in the whole herd, as `server__tool`, in characters that every agent accepts. */
export function toPublicName(server: string, tool: string, form: NameForm = DEFAULT_SEPARATOR): string {
  const name = joinNames(server, tool, form);
  return name.length <= LONGEST ? name : withHash(name, server, tool);
}

/** How the names of a server's tools begin, as far as there is room. */
export function publicPrefix(server: string, form: NameForm): string {
  return publicNamePrefix(server, form).slice(0, LONGEST_PREFIX);
}

/** The same on every start: it depends on nothing but the two names. */
function withHash(name: string, server: string, tool: string): string {
  const hash = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, HASH_LENGTH);
  return `${name.slice(0, LONGEST - HASH_LENGTH - 1)}-${hash}`;
}

/**
 * The public names of a list. Entries with the same name get a hash, and this repeats until all names differ: a server
 * could call a tool by another tool's name with its hash. `servers`: every server, also those whose lists are not known:
 * the tool `hub__push` of `git` must not get the name of `push` of `git__hub` while that list is unknown. `renamed`: names
 * that a profile gives; of two tools with one name the renamed one keeps it.
 */
export function publicNames(
  tools: readonly { server: string; name: string }[],
  servers: readonly string[] = [],
  form: NameForm = DEFAULT_SEPARATOR,
  renamed: readonly (string | undefined)[] = [],
): string[] {
  const prefixes = new Map<string, number>();
  for (const server of servers) {
    const prefix = publicPrefix(server, form);
    prefixes.set(prefix, (prefixes.get(prefix) ?? 0) + 1);
  }
  const separator = form === 'dotted' ? DEFAULT_SEPARATOR : form;
  const names = tools.map(({ server, name }, index) => {
    if (renamed[index] !== undefined) return renamed[index];
    const candidate = toPublicName(server, name, form);
    return beginsAsAnother(candidate, publicPrefix(server, form), prefixes, separator)
      ? withHash(joinNames(server, name, form), server, name)
      : candidate;
  });
  const hashed = new Set([...tools.keys()].filter((index) => renamed[index] !== undefined));
  for (let found = collisions(names, hashed); found.length > 0; found = collisions(names, hashed)) {
    for (const index of found) {
      const { server, name } = tools[index]!;
      names[index] = withHash(names[index]!, server, name);
      hashed.add(index);
    }
  }
  return names;
}

/** Whether names of another server may have the same prefix. Only a prefix that ends in the separator, or was cut, can be shared. */
function beginsAsAnother(
  name: string,
  own: string,
  prefixes: ReadonlyMap<string, number>,
  separator: Separator,
): boolean {
  if ((prefixes.get(own) ?? 0) > 1) return true;
  const { length } = separator;
  // the separator may overlap with that of the own prefix: `a` and `a_` share `a___`
  const from = own.length - length + 1;
  for (let at = name.indexOf(separator, from); at !== -1; at = name.indexOf(separator, at + 1)) {
    if (prefixes.has(name.slice(0, at + length))) return true;
  }
  const cut = name.slice(0, LONGEST_PREFIX);
  return cut.length > own.length && prefixes.has(cut);
}

/** Which names are there more than once and have no hash of this kind yet. */
function collisions(names: readonly string[], hashed: ReadonlySet<number>): number[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return names.flatMap((name, index) => (counts.get(name)! > 1 && !hashed.has(index) ? [index] : []));
}

type Source = Pick<ConfiguredServer, 'spec' | 'catalog'>;

/** One tool or prompt, and what it is called in the whole herd. */
export interface PublicEntry {
  server: Source;
  name: string;
  publicName: string;
  definition: JsonObject;
  /** Instead of `name`, where a profile renames the tool, or another tool to its name. */
  alias?: string | undefined;
}

/**
 * All known entries of one kind, under their public names. They are computed over the whole herd, because the name of an
 * entry must not depend on the caller.
 */
export class PublicNames {
  readonly all: readonly PublicEntry[];
  readonly #byName: ReadonlyMap<string, PublicEntry>;
  /** Made at the first use: only a search needs it. */
  #byServer: ReadonlyMap<Source, ReadonlyMap<string, PublicEntry>> | undefined;

  constructor(
    list: NamedList,
    servers: readonly Source[],
    form: NameForm = DEFAULT_SEPARATOR,
    lens?: ProfileLens,
  ) {
    const profile = list === 'tools' ? lens : undefined;
    const known = servers.flatMap((server) => {
      const listed = server.catalog.knownLists()[list] ?? [];
      const definitions = profile?.tools(server.spec.name, listed) ?? listed;
      return definitions.map((definition) => ({ server, name: String(definition.name), definition }));
    });
    const renamed = profile && known.map(({ server, name }) => profile.publicNameOf(server.spec.name, name));
    const names = publicNames(
      known.map(({ server, name }) => ({ server: server.spec.name, name })),
      servers.map(({ spec }) => spec.name),
      form,
      renamed,
    );
    const taken = new Set(
      renamed?.map((name, index) => name && `${known[index]!.server.spec.name}\0${name}`),
    );
    this.all = known.map((one, index): PublicEntry => {
      const publicName = names[index]!;
      const isShadowed = taken.has(`${one.server.spec.name}\0${one.name}`);
      const alias = renamed?.[index] ?? (isShadowed ? publicName : undefined);
      return alias === undefined ? { ...one, publicName } : { ...one, publicName, alias };
    });
    this.#byName = new Map(this.all.map((one) => [one.publicName, one]));
  }

  /** By its public name. */
  readonly find = (publicName: string): PublicEntry | undefined => this.#byName.get(publicName);

  /** By its server and its own name; undefined where its server does not list it any more. */
  of(server: Source, name: string): PublicEntry | undefined {
    this.#byServer ??= byServer(this.all);
    return this.#byServer.get(server)?.get(name);
  }
}

function byServer(entries: readonly PublicEntry[]): Map<Source, Map<string, PublicEntry>> {
  const found = new Map<Source, Map<string, PublicEntry>>();
  for (const entry of entries) {
    const named = found.get(entry.server) ?? new Map<string, PublicEntry>();
    found.set(entry.server, named.set(entry.name, entry));
  }
  return found;
}
