import { join } from 'node:path';
import type { Machine } from './client.js';

/** Where desktop applications keep their files: on macOS in Library, elsewhere in the XDG config folder. */
export function applicationFolder(machine: Machine): string {
  if (machine.platform === 'darwin') return join(machine.home, 'Library', 'Application Support');
  return configFolder(machine);
}

/** Where command-line tools keep their files, on macOS too. */
export function configFolder({ home, environment }: Machine): string {
  return environment.XDG_CONFIG_HOME || join(home, '.config');
}
