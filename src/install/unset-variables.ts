import type { FoundEntry } from '../config/edit/index.js';
import { loadConfig } from '../config/load.js';
import { ConfigError } from '../config/parse/problem.js';
import type { ConfigFile } from './config-target.js';
import type { InstallContext } from './context.js';
import { lenientOptions } from './load-options.js';

/**
 * Warnings about the variables that new or enabled entries of a file need and this environment lacks. Only now they are
 * missed: nothing in a disabled entry is expanded. `told`: variables that the command has named already.
 */
export async function unsetVariables(
  context: InstallContext,
  target: ConfigFile,
  found: readonly FoundEntry[],
  told: readonly string[] = [],
): Promise<string[]> {
  const agentFile = target.scope === 'local' ? target.file : undefined;
  const options = lenientOptions(context, agentFile, { trust: 'ignored' });
  try {
    await loadConfig({ ...options, variables: 'strict' });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const missing = error.problems.filter(({ file }) => file === target.file);
    return found.flatMap(({ index, name }) => {
      const own = missing.filter(({ path }) => path.startsWith(`${target.key}[${index}]`));
      const names = new Set(own.flatMap(({ variable }) => variable ?? []));
      for (const one of told) names.delete(one);
      if (names.size === 0) return [];
      return [
        `${name} needs ${[...names].join(', ')}, not set here: set it where the daemon is started, then: toolherd up --replace`,
      ];
    });
  }
}
