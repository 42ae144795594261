import { createHash } from 'node:crypto';

/** Longer names are refused by some models' tool interfaces. */
const LONGEST = 64;
const HASH_LENGTH = 8;

/** The name of a tool in the whole herd: `server__tool`, in characters that every agent accepts. */
export function exposedName(server: string, tool: string): string {
  const name = `${normalise(server)}__${normalise(tool)}`;
  return name.length <= LONGEST ? name : withHash(name, server, tool);
}

/** How the names of a server's tools begin, as far as there is room. */
export function exposedPrefix(server: string): string {
  return `${normalise(server)}__`.slice(0, LONGEST - HASH_LENGTH - 1);
}

export function normalise(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_.-]/g, '-');
}

/** The same on every start: it depends on nothing but the two names. */
function withHash(name: string, server: string, tool: string): string {
  const hash = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, HASH_LENGTH);
  return `${name.slice(0, LONGEST - HASH_LENGTH - 1)}-${hash}`;
}

/**
 * Exposed names of a list; where two are the same, each gets its hash. Again, until no two are: a server could call a
 * tool what another's looks like with its hash.
 */
export function exposedNames(tools: readonly { server: string; name: string }[]): string[] {
  const names = tools.map(({ server, name }) => exposedName(server, name));
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

/** Which names are there more than once and have no hash of this kind yet. */
function collisions(names: readonly string[], hashed: ReadonlySet<number>): number[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return names.flatMap((name, index) => (counts.get(name)! > 1 && !hashed.has(index) ? [index] : []));
}
