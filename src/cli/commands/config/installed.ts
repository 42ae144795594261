import { type EntryName, type FoundEntry, findEntries } from '../../../config/edit/index.js';
import { ConfigError } from '../../../config/parse/problem.js';
import type { CommandContext } from '../../core/command.js';
import { type ConfigFile, globalFile, localFile, textOf } from './config-file.js';

export type InstallState = 'not_installed' | 'local' | 'global' | 'both';

/** The entries of a text that are ours: in an agent.yaml others have theirs in the same list. */
export function ourEntries(text: string, { key }: ConfigFile): FoundEntry[] {
  return findEntries(text, key).filter(
    ({ type }) => key === 'mcp_servers' || type === undefined || type === 'mcp',
  );
}

/** Where a server stands. A registry server is the same one whatever it is called; others go by their name. */
export function stateOf(call: CommandContext, server: EntryName): InstallState {
  const isIn = (target: ConfigFile | undefined) =>
    target !== undefined && entriesIn(target).some((entry) => isSame(entry, server));
  const [isLocal, isGlobal] = [isIn(localFile(call)), isIn(globalFile(call))];
  if (isLocal && isGlobal) return 'both';
  if (isLocal) return 'local';
  return isGlobal ? 'global' : 'not_installed';
}

export const STATE_WORDS: Readonly<Record<InstallState, string>> = {
  not_installed: 'not installed',
  local: 'installed local',
  global: 'installed global',
  both: 'installed local and global',
};

/** None where the file cannot be read: it is not the one that is being worked on. */
export function entriesIn(target: ConfigFile): FoundEntry[] {
  try {
    return ourEntries(textOf(target), target);
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
