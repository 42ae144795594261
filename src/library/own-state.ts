import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { endOrphans } from '../daemon/processes.js';
import { isRunning } from '../processes/process-identity.js';
import { systemClock } from '../shared/clock.js';
import type { Environment } from '../shared/environment.js';
import { ToolherdError } from '../shared/errors.js';
import type { Paths } from '../shared/files/paths.js';

/** The state of a herd in this process that it must not share with a daemon. */
export interface OwnState {
  paths: Paths;
  remove(): void;
}

/**
 * Makes a folder for a ledger, logs and a journal. Everything else is shared with the daemon: the trust store, tokens and caches.
 * First it ends what herds whose process was killed have left: processes (their watchdogs have usually killed them),
 * containers, folders.
 */
export async function makeOwnState(paths: Paths, environment: Environment): Promise<OwnState> {
  const all = join(paths.stateFolder, 'fleets');
  await tidy(all, environment);
  const folder = join(all, `${process.pid}-${randomBytes(4).toString('hex')}`);
  makeFolder(folder);
  return {
    paths: {
      ...paths,
      logFolder: join(folder, 'logs'),
      ledgerFile: join(folder, 'ledger'),
      journalFile: join(folder, 'journal.json'),
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new ToolherdError(`a herd in this process has nowhere to keep its state: ${folder}`, {
      why: (cause as Error).message,
      fix: 'make this folder writable, or set TOOLHERD_HOME to another one',
      cause,
    });
  }
}

async function tidy(all: string, environment: Environment): Promise<void> {
  for (const name of list(all)) {
    if (isRunning(Number.parseInt(name, 10))) continue;
    const folder = join(all, name);
    const { isInUse, dockerFailed } = await endOrphans(join(folder, 'ledger'), systemClock, environment);
    // only the ledger lists the containers: the next herd tries again
    if (!isInUse && !dockerFailed) rmSync(folder, { recursive: true, force: true });
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d+-[\da-f]+$/.test(name));
  } catch {
    return [];
  }
}
