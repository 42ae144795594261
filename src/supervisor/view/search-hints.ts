import { isStopWord, nameWords, proseWords } from '../../search/words.js';
import { nearMiss } from '../../shared/text/near-miss.js';
import type { ProfileLens } from '../catalog/profile-lens.js';
import type { PublicNames } from '../catalog/public-names.js';
import type { ConfiguredServer } from '../server/configured-server.js';

/** More words of a query are not compared with those of tools. */
const MOST_SUGGESTED = 5;

/** Why nothing was found. Servers whose lists are missing are named in `missing`. */
export function searchHints(
  query: string,
  servers: readonly ConfiguredServer[],
  names: PublicNames,
  profile: ProfileLens | undefined,
): string[] {
  const asked = new Set(servers.map(({ spec }) => spec));
  const known = names.all.filter(({ server }) => asked.has(server.spec));
  const blocked = known.filter(({ server, name }) => server.catalog.blockOf(name) !== undefined);
  const filtered = servers.filter(
    ({ spec: { tools } }) => tools.deny.length > 0 || !tools.allow.includes('*'),
  );
  const unable = servers.filter(({ spec }) => !spec.enabled);
  const given = proseWords(query);
  const words = [...new Set(given.filter((word) => !isStopWord(word)))];
  const vocabulary = new Set(known.flatMap(({ name }) => nameWords(name)));
  const near = words.slice(0, MOST_SUGGESTED).flatMap((word) => nearMiss(word, vocabulary) ?? []);
  const usable = known.length - blocked.length;
  return [
    noMatch(given, words, usable),
    ...(near.length === 0 ? [] : [`words of tools that are similar: ${[...new Set(near)].join(', ')}`]),
    ...(filtered.length === 0
      ? []
      : [`the config hides tools of ${namesOf(filtered)} (tools.allow, tools.deny)`]),
    ...(unable.length === 0
      ? []
      : [`servers that cannot run were not searched: ${unable.map(whyUnable).join(', ')}`]),
    ...(profile === undefined ? [] : [`only tools of the profile '${profile.name}' were searched`]),
    ...(blocked.length === 0
      ? []
      : [`pins block ${blocked.length} of ${known.length} tools, which changed; see "toolherd pins"`]),
  ];
}

function noMatch(given: readonly string[], words: readonly string[], usable: number): string {
  if (usable === 0) return 'there are no tools to search';
  if (given.length === 0) return 'the query has no words';
  if (words.length === 0) return 'the query has only words that the search leaves out';
  return `none of ${usable} tools has a word of the query`;
}

function whyUnable({ spec: { name, unusable } }: ConfiguredServer): string {
  return `${name} (${unusable?.detail.replaceAll('_', ' ') ?? 'disabled'})`;
}

function namesOf(servers: readonly ConfiguredServer[]): string {
  return servers.map(({ spec }) => spec.name).join(', ');
}
