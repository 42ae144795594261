import { createHash } from 'node:crypto';

/** Longer names are refused by some models' tool interfaces. */
const LONGEST = 64;
const HASH_LENGTH = 8;

/** The name of a tool in the whole herd: `server__tool`, in characters that every agent accepts. */
export function exposedName(server: string, tool: string): string {
  const name = `${normalise(server)}__${normalise(tool)}`;
  return name.length <= LONGEST ? name : withHash(name, server, tool);
}

export function normalise(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_.-]/g, '-');
}

/** The same on every start: it depends on nothing but the two names. */
function withHash(name: string, server: string, tool: string): string {
  const hash = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, HASH_LENGTH);
  return `${name.slice(0, LONGEST - HASH_LENGTH - 1)}-${hash}`;
}

/** Exposed names of a list; where two are the same, each gets its hash. */
export function exposedNames(tools: readonly { server: string; name: string }[]): string[] {
  const names = tools.map(({ server, name }) => exposedName(server, name));
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return names.map((exposed, index) => {
    const { server, name } = tools[index]!;
    return counts.get(exposed)! > 1 ? withHash(exposed.slice(0, LONGEST - HASH_LENGTH - 1), server, name) : exposed;
  });
}
