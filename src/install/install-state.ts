import { type FoundEntry, findEntries } from '../config/edit/index.js';
import { ConfigError } from '../config/parse/problem.js';
import { type ConfigFile, globalFile, localFile, readText } from './config-target.js';
import type { InstallContext } from './context.js';
import type { EntryName } from './duplicates.js';

export type InstallState = 'not_installed' | 'local' | 'global' | 'both';

/** The MCP entries of a text. In an agent.yaml entries of other types are in the same list. */
export function ourEntries(text: string, { key }: ConfigFile): FoundEntry[] {
  return findEntries(text, key).filter(
    ({ type }) => key === 'mcp_servers' || type === undefined || type === 'mcp',
  );
}

/** Which files have a server. A server of the registry is compared by its registry name, any other by its name. */
export function stateOf(context: InstallContext, server: EntryName): InstallState {
  const isIn = (target: ConfigFile | undefined) =>
    target !== undefined && entriesIn(target).some((entry) => isSame(entry, server));
  const [isLocal, isGlobal] = [isIn(localFile(context)), isIn(globalFile(context))];
  if (isLocal && isGlobal) return 'both';
  if (isLocal) return 'local';
  return isGlobal ? 'global' : 'not_installed';
}

/** None if the file cannot be read: it is not the one that the command edits. */
export function entriesIn(target: ConfigFile): FoundEntry[] {
  try {
    return ourEntries(readText(target) ?? '', target);
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

function isSame(entry: EntryName, server: EntryName): boolean {
  if (entry.registryName !== undefined && server.registryName !== undefined) {
    return entry.registryName === server.registryName;
  }
  return entry.name === server.name;
}
