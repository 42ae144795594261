import { createHash } from 'node:crypto';
import type { JsonObject } from '../../shared/json.js';
import type { ConfiguredServer } from '../server/configured-server.js';

/** Longer names are refused by some models' tool interfaces. */
const LONGEST = 64;
const HASH_LENGTH = 8;
const LONGEST_PREFIX = LONGEST - HASH_LENGTH - 1;

/** The name of a tool in the whole herd: `server__tool`, in characters that every agent accepts. */
export function toPublicName(server: string, tool: string): string {
  const name = `${normalise(server)}__${normalise(tool)}`;
  return name.length <= LONGEST ? name : withHash(name, server, tool);
}

/** How the names of a server's tools begin, as far as there is room. */
export function publicPrefix(server: string): string {
  return `${normalise(server)}__`.slice(0, LONGEST_PREFIX);
}

function normalise(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_.-]/g, '-');
}

/** The same on every start: it depends on nothing but the two names. */
function withHash(name: string, server: string, tool: string): string {
  const hash = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, HASH_LENGTH);
  return `${name.slice(0, LONGEST - HASH_LENGTH - 1)}-${hash}`;
}

/**
 * Exposed names of a list; where two are the same, each gets its hash. Again, until no two are: a server could call a
 * tool what another's looks like with its hash. `servers`: all there are, also those of which nothing is known: the tool
 * `hub__push` of `git` must not be taken for `push` of `git__hub` while that one is away.
 */
export function publicNames(
  tools: readonly { server: string; name: string }[],
  servers: readonly string[] = [],
): string[] {
  const prefixes = new Map<string, number>();
  for (const prefix of servers.map(publicPrefix)) prefixes.set(prefix, (prefixes.get(prefix) ?? 0) + 1);
  const names = tools.map(({ server, name }) => {
    const candidate = toPublicName(server, name);
    return beginsAsAnother(candidate, publicPrefix(server), prefixes)
      ? withHash(`${normalise(server)}__${normalise(name)}`, server, name)
      : candidate;
  });
  const hashed = new Set<number>();
  for (let found = collisions(names, hashed); found.length > 0; found = collisions(names, hashed)) {
    for (const index of found) {
      const { server, name } = tools[index]!;
      names[index] = withHash(names[index]!, server, name);
      hashed.add(index);
    }
  }
  return names;
}

/** Whether names of another server begin so as well. Only what ends in `__`, or is cut off, can be such a beginning. */
function beginsAsAnother(name: string, own: string, prefixes: ReadonlyMap<string, number>): boolean {
  if ((prefixes.get(own) ?? 0) > 1) return true;
  for (let at = name.indexOf('__', own.length - 1); at !== -1; at = name.indexOf('__', at + 1)) {
    if (prefixes.has(name.slice(0, at + 2))) return true;
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
}

/**
 * Everything of one kind that is known of the herd, under the names that the whole herd gives it: what something is
 * called must not depend on who asks.
 */
export class PublicNames {
  readonly all: readonly PublicEntry[];
  readonly #byName: ReadonlyMap<string, PublicEntry>;

  constructor(list: 'tools' | 'prompts', servers: readonly Source[]) {
    const known = servers.flatMap((server) =>
      (server.catalog.lists[list] ?? []).map((definition) => ({
        server,
        name: String(definition.name),
        definition,
      })),
    );
    const names = publicNames(
      known.map(({ server, name }) => ({ server: server.spec.name, name })),
      servers.map(({ spec }) => spec.name),
    );
    this.all = known.map((one, index) => ({ ...one, publicName: names[index]! }));
    this.#byName = new Map(this.all.map((one) => [one.publicName, one]));
  }

  /** By its name in the herd. */
  find(publicName: string): PublicEntry | undefined {
    return this.#byName.get(publicName);
  }

  /** What a server itself calls the one that has this name in the herd. */
  ownName(server: string, publicName: string): string | undefined {
    const found = this.#byName.get(publicName);
    return found?.server.spec.name === server ? found.name : undefined;
  }
}
