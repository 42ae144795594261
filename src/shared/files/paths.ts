import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Environment } from '../environment.js';

/** All files and folders. `$TOOLHERD_HOME` puts them into one folder; otherwise they are in the XDG folders. */
export interface Paths {
  configFile: string;
  stateFolder: string;
  logFolder: string;
  /** A record of every call. All herds of this user share it. */
  auditFile: string;
  /** Files that can be made again. */
  cacheFolder: string;
  /** The processes of the daemon, for the next start after it was killed. */
  ledgerFile: string;
  /** Which agent files the user allowed. */
  trustFile: string;
  /** Tokens of remote servers; the only file that holds any. */
  authFile: string;
  /** What `attach` made in the folders of clients. */
  attachedFile: string;
  /** The last transitions of every server, for the next daemon. */
  journalFile: string;
}

export function findPaths(environment: Environment, userHome: string): Paths {
  const home = environment.TOOLHERD_HOME;
  const xdg = (name: string, fallback: string) =>
    join(environment[name] || join(userHome, fallback), 'toolherd');
  const configFolder = home ? resolve(home) : xdg('XDG_CONFIG_HOME', '.config');
  const stateFolder = home ? join(resolve(home), 'state') : xdg('XDG_STATE_HOME', '.local/state');
  return {
    configFile: join(configFolder, 'config.yaml'),
    stateFolder,
    logFolder: join(stateFolder, 'logs'),
    auditFile: join(stateFolder, 'logs', 'audit.log'),
    cacheFolder: home ? join(resolve(home), 'cache') : xdg('XDG_CACHE_HOME', '.cache'),
    ledgerFile: join(stateFolder, 'ledger'),
    trustFile: join(stateFolder, 'trust.json'),
    authFile: join(stateFolder, 'auth.json'),
    attachedFile: join(stateFolder, 'attached.json'),
    journalFile: join(stateFolder, 'journal.json'),
  };
}

/** The nearest agent.yaml in a folder or above it. */
export function findAgentFile(from: string): string | undefined {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const candidate = join(folder, 'agent.yaml');
    if (existsSync(candidate)) return candidate;
    if (folder === dirname(folder)) return undefined;
  }
}
