import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Loaded, loadConfig } from '../config/load.js';
import { ConfigError } from '../config/problem.js';
import type { Paths } from '../paths.js';

export interface ConfigPlace {
  file: string;
  /** Named by the user: then it has to be there. */
  isRequired: boolean;
  paths: Paths;
  environment: Readonly<Record<string, string | undefined>>;
  userHome: string;
  /** Of a herd that is one agent's: the file that goes over the global one. */
  agentFile?: string | undefined;
}

/** Reads the global config as it is now, and an agent's file over it. Throws a ConfigError with every problem. */
export function readHerdConfig(place: ConfigPlace, agentFile = place.agentFile): Promise<Loaded> {
  const { file, isRequired, paths, environment, userHome } = place;
  return loadConfig({
    configFile: file,
    configRequired: isRequired,
    agentFile,
    ownFolder: dirname(paths.configFile),
    trustFile: paths.trustFile,
    environment,
    userHome,
  });
}

/**
 * The same for a herd that runs. An empty file is taken for one that is about to be written: many editors empty it
 * first, and to believe that would stop every server.
 */
export async function rereadHerdConfig(place: ConfigPlace): Promise<Loaded> {
  if (statSync(place.file, { throwIfNoEntry: false })?.size === 0) {
    const message = 'The file is empty';
    const fix = 'write it again; for no servers at all write \'version: "1.0"\'';
    throw new ConfigError([
      { type: 'ConfigError', message, fix, file: place.file, line: 1, column: 1, path: '' },
    ]);
  }
  return readHerdConfig(place);
}
