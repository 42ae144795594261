import { dirname, resolve } from 'node:path';
import type { LoadOptions } from '../config/load.js';
import { findAgentFile } from '../shared/files/paths.js';
import { UsageError } from '../shared/report/usage-error.js';
import type { InstallContext } from './context.js';

/** The files that a command works with: those of the options, else those in the usual places. */
export function loadOptions(
  context: InstallContext,
  agentFile: string | undefined = agentFileOf(context),
): LoadOptions {
  const { globals, paths, cwd, environment, userHome } = context;
  const { config } = globals;
  return {
    configFile: config === undefined ? paths.configFile : resolve(cwd, config),
    configRequired: config !== undefined,
    agentFile,
    userFolder: dirname(paths.configFile),
    trustFile: paths.trustFile,
    environment,
    userHome,
  };
}

/**
 * For a command that only looks at what files say: their variables need not be set. With `trust: 'ignored'` also a file that
 * is not allowed can be read.
 */
export function lenientOptions(
  context: InstallContext,
  agentFile: string | undefined,
  { trust }: { trust: 'required' | 'ignored' },
): LoadOptions {
  const options: LoadOptions = { ...loadOptions(context, agentFile), agentFile, variables: 'lenient' };
  return trust === 'ignored' ? { ...options, trustFile: undefined } : options;
}

export function agentFileOf({ globals, cwd }: InstallContext): string | undefined {
  return globals.agent === undefined ? findAgentFile(cwd) : resolve(cwd, globals.agent);
}

/** The one agent file that a command works on: the one it names, else the one that every command finds. */
export function namedAgentFile(context: InstallContext, name: string | undefined): string {
  const file = name === undefined ? agentFileOf(context) : resolve(context.cwd, name);
  if (file !== undefined) return file;
  throw new UsageError('there is no agent.yaml here or above', 'name the file');
}
