import { dirname, resolve } from 'node:path';
import type { LoadOptions } from '../../config/load.js';
import { findAgentFile } from '../../shared/paths.js';
import type { CommandContext } from './command.js';
import { UsageError } from './command.js';

/** The files a call means: flags first, then where files usually are. */
export function loadOptions(
  call: CommandContext,
  agentFile: string | undefined = agentFileOf(call),
): LoadOptions {
  const { flags, paths, cwd, environment, userHome } = call;
  const config = flags.config;
  return {
    configFile: typeof config === 'string' ? resolve(cwd, config) : paths.configFile,
    configRequired: typeof config === 'string',
    agentFile,
    userFolder: dirname(paths.configFile),
    trustFile: paths.trustFile,
    environment,
    userHome,
  };
}

export function agentFileOf({ flags, cwd }: CommandContext): string | undefined {
  const agent = flags.agent;
  return typeof agent === 'string' ? resolve(cwd, agent) : findAgentFile(cwd);
}

/** The one agent file that a verb works on: its argument, else as every verb finds it. */
export function namedAgentFile(call: CommandContext): string {
  const [argument] = call.args;
  const file = argument === undefined ? agentFileOf(call) : resolve(call.cwd, argument);
  if (file !== undefined) return file;
  throw new UsageError('there is no agent.yaml here or above', 'name the file');
}
