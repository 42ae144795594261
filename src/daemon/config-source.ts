import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Loaded, type LoadOptions, loadConfig } from '../config/load.js';
import { ConfigError, fileProblem } from '../config/parse/problem.js';
import { TrustStore } from '../config/trust/trust.js';
import { stampOf } from '../config/watch.js';
import { sleep } from '../shared/async.js';
import { systemClock } from '../shared/clock.js';
import type { Environment } from '../shared/environment.js';
import { ToolherdError } from '../shared/errors.js';
import type { Paths } from '../shared/files/paths.js';

export interface ConfigSource {
  file: string;
  /** It must exist: the user named it, or a running herd has read it before. */
  isRequired: boolean;
  paths: Paths;
  environment: Environment;
  userHome: string;
  /** The agent's file of a herd that belongs to one agent: its entries replace global ones. */
  agentFile?: string | undefined;
  /** See LoadOptions. */
  reader?: LoadOptions['reader'];
}

/** Reads the global config, and an agent's file that is merged into it. Rejects with a ConfigError of all problems. */
export function readHerdConfig(
  source: ConfigSource,
  agentFile = source.agentFile,
  exempt: LoadOptions['exempt'] = 'as-set',
): Promise<Loaded> {
  const { file, isRequired, paths, environment, userHome, reader } = source;
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
 * The same for a client of the HTTP port. The trust store must hold the agent's file in its present form, whatever
 * `security.trust` says and wherever the file is. Undefined for every other file; a file that was never allowed is not
 * even looked for. `agentFile`: a path of `trustedPath`.
 */
export async function readAllowedConfig(
  source: ConfigSource,
  agentFile: string,
): Promise<Loaded | undefined> {
  try {
    const isKnown = new TrustStore(source.paths.trustFile).has(agentFile);
    return isKnown ? await readHerdConfig(source, agentFile, 'none') : undefined;
  } catch (error) {
    if (error instanceof ToolherdError) return undefined;
    throw error;
  }
}

/** How often and how long to wait for a program that is still writing the file. Then the file is read as it is. */
const TRIES = 20;
const PAUSE_MS = 50;

/**
 * The same for a herd that runs. A file that changes while it is read is read again: half a file may be a valid one. An
 * empty file counts as one that is about to be written: many editors empty a file first, and an empty config would stop
 * every server. The same holds for a file that is gone: `git checkout`, `stow` and others remove a file first.
 */
export async function rereadHerdConfig(
  source: ConfigSource,
  agentFile?: string,
  exempt?: LoadOptions['exempt'],
): Promise<Loaded> {
  const stamp = () => `${stampOf(source.file)} ${agentFile === undefined ? '' : stampOf(agentFile)}`;
  for (let tries = 1; ; tries += 1) {
    const before = stamp();
    const reading = readFull(source, agentFile, exempt);
    const isWhole = await reading.then(
      () => stamp() === before,
      () => stamp() === before,
    );
    if (isWhole || tries === TRIES) return reading;
    await sleep(systemClock, PAUSE_MS);
  }
}

async function readFull(
  source: ConfigSource,
  agentFile: string | undefined,
  exempt: LoadOptions['exempt'],
): Promise<Loaded> {
  const stat = statSync(source.file, { throwIfNoEntry: false });
  if (stat === undefined ? source.isRequired : stat.size === 0) {
    const message = stat === undefined ? 'The file is gone' : 'The file is empty';
    const fix = 'write it again; for no servers at all write \'version: "1.0"\'';
    throw new ConfigError([fileProblem(source.file, message, fix)]);
  }
  return readHerdConfig(source, agentFile, exempt);
}
