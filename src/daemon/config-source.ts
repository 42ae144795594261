import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Loaded, type LoadOptions, loadConfig } from '../config/load.js';
import { ConfigError, fileProblem } from '../config/parse/problem.js';
import { TrustStore } from '../config/trust.js';
import { stampOf } from '../config/watch.js';
import { ToolherdError } from '../shared/errors.js';
import type { Paths } from '../shared/paths.js';

export interface ConfigSource {
  file: string;
  /** Named by the user: then it has to be there. */
  isRequired: boolean;
  paths: Paths;
  environment: Readonly<Record<string, string | undefined>>;
  userHome: string;
  /** Of a herd that is one agent's: the file that goes over the global one. */
  agentFile?: string | undefined;
  /** See LoadOptions. */
  reader?: LoadOptions['reader'];
}

/** Reads the global config as it is now, and an agent's file over it. Throws a ConfigError with every problem. */
export function readHerdConfig(
  place: ConfigSource,
  agentFile = place.agentFile,
  exempt: LoadOptions['exempt'] = 'as-set',
): Promise<Loaded> {
  const { file, isRequired, paths, environment, userHome, reader } = place;
  return loadConfig({
    configFile: file,
    configRequired: isRequired,
    agentFile,
    userFolder: dirname(paths.configFile),
    trustFile: paths.trustFile,
    exempt,
    environment,
    userHome,
    reader,
  });
}

/**
 * The same for a client of the HTTP port: the agent file has to be in the trust store as it is now, wherever it stands and
 * whatever `security.trust` says. Undefined for every other file; one that was never allowed is not even looked for.
 * `agentFile`: as `placeOf` has it.
 */
export async function readAllowedConfig(place: ConfigSource, agentFile: string): Promise<Loaded | undefined> {
  try {
    const isKnown = new TrustStore(place.paths.trustFile).has(agentFile);
    return isKnown ? await readHerdConfig(place, agentFile, 'none') : undefined;
  } catch (error) {
    if (error instanceof ToolherdError) return undefined;
    throw error;
  }
}

/** A writer that takes its time is waited for; then what there is is read. */
const TRIES = 20;
const PAUSE_MS = 50;

/**
 * The same for a herd that runs. A file that changes while it is read is read again: half of it may look like a whole.
 * An empty one is taken for one that is about to be written: many editors empty it first, and to believe that would
 * stop every server.
 */
export async function rereadHerdConfig(
  place: ConfigSource,
  agentFile?: string,
  exempt?: LoadOptions['exempt'],
): Promise<Loaded> {
  const stamp = () => `${stampOf(place.file)} ${agentFile === undefined ? '' : stampOf(agentFile)}`;
  for (let tries = 1; ; tries += 1) {
    const before = stamp();
    const reading = readFull(place, agentFile, exempt);
    const isWhole = await reading.then(
      () => stamp() === before,
      () => stamp() === before,
    );
    if (isWhole || tries === TRIES) return reading;
    await sleep(PAUSE_MS);
  }
}

async function readFull(
  place: ConfigSource,
  agentFile: string | undefined,
  exempt: LoadOptions['exempt'],
): Promise<Loaded> {
  if (statSync(place.file, { throwIfNoEntry: false })?.size === 0) {
    const message = 'The file is empty';
    const fix = 'write it again; for no servers at all write \'version: "1.0"\'';
    throw new ConfigError([fileProblem(place.file, message, fix)]);
  }
  return readHerdConfig(place, agentFile, exempt);
}
