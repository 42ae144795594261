import { type Loaded, loadConfig } from '../../config/load.js';
import { agentFileOf, lenientOptions } from '../../install/load-options.js';
import type { CommandContext } from './command.js';

/** The names of all servers: those of the config files, and those that a running daemon has. It starts nothing. */
export async function knownServers(context: CommandContext): Promise<Set<string>> {
  const configured = await configuredServers(context);
  try {
    const fleet = await context.fleet({ autostart: false, viewMode: 'herd' });
    const { servers } = await fleet.status();
    return new Set([...configured, ...servers.map(({ name }) => name)]);
  } catch {
    // without a daemon the files are all there is
    return new Set(configured);
  }
}

async function configuredServers(context: CommandContext): Promise<string[]> {
  return (await configOf(context))?.servers.map(({ name }) => name) ?? [];
}

/** The names of the profiles of the config files. */
export async function configuredProfiles(context: CommandContext): Promise<string[]> {
  return [...((await configOf(context))?.profiles.keys() ?? [])];
}

async function configOf(context: CommandContext): Promise<Loaded | undefined> {
  try {
    return await loadConfig(lenientOptions(context, agentFileOf(context), { trust: 'ignored' }));
  } catch {
    // "toolherd validate" says what is wrong with a file
    return undefined;
  }
}
