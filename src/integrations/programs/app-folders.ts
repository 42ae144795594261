import { join } from 'node:path';
import type { Machine } from './client.js';

/** Where applications keep their files: on macOS in the Library, elsewhere as XDG says. */
export function applicationFolder(machine: Machine): string {
  if (machine.platform === 'darwin') return join(machine.home, 'Library', 'Application Support');
  return configFolder(machine);
}

/** Where command-line tools keep theirs, on macOS too. */
export function configFolder({ home, environment }: Machine): string {
  return environment.XDG_CONFIG_HOME || join(home, '.config');
}
