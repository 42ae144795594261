import type { Machine } from '../../integrations/index.js';
import type { CommandContext } from './command.js';

/** What the paths of clients' files depend on. */
export function machineOf({ environment, userHome }: CommandContext): Machine {
  return { platform: process.platform, home: userHome, environment };
}
