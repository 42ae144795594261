import { type FoundOne, LATEST, type Registry, RegistryNotFoundError } from '../../../registry/index.js';
import { shellWord } from '../../../shared/shell-word.js';

const SUGGESTIONS = 5;
const VERSIONS = 10;

/** One server of the registry. When there is none of this name, the error says which ones might be meant. */
export async function findServer(
  registry: Registry,
  name: string,
  version: string | undefined,
): Promise<FoundOne> {
  try {
    return await registry.find(name, version ?? LATEST);
  } catch (error) {
    if (!(error instanceof RegistryNotFoundError)) throw error;
    const fix = await suggest(registry, name, version).catch(() => undefined);
    throw fix === undefined ? error : new RegistryNotFoundError(error.message, { fix });
  }
}

async function suggest(
  registry: Registry,
  name: string,
  version: string | undefined,
): Promise<string | undefined> {
  const versions = version === undefined ? [] : await registry.versions(name);
  if (versions.length > 0) {
    const more = versions.length > VERSIONS ? ', …' : '';
    return `there are: ${versions.slice(0, VERSIONS).join(', ')}${more}`;
  }
  const word = name.slice(name.lastIndexOf('/') + 1);
  const { servers } = await registry.search(word, SUGGESTIONS, undefined);
  if (servers.length === 0) return undefined;
  const names = servers.map((server) => server.name);
  return `use the full name: ${names.map(shellWord).join(', ')}; or see "toolherd search ${shellWord(word)}"`;
}
