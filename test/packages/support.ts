import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Launch, LaunchEvents, PackageEntry } from '../../src/packages/entry.js';
import { Packages, type PackagesOptions } from '../../src/packages/packages.js';
import { ProcessTable } from '../../src/processes/table.js';
import { type Clock, systemClock } from '../../src/shared/clock.js';
import { makeFolder } from '../support/folder.js';
import type { Registry } from '../support/npm-registry.js';
import { atEnd } from '../support/share.js';

type Settings = ReturnType<PackagesOptions['settings']>;

export interface Store {
  packages: Packages;
  folder: string;
  table: ProcessTable;
  /** An entry for `npx ARGS…`; its working folder is new and empty. */
  entry(args: readonly string[], fields?: Partial<PackageEntry>, env?: Record<string, string>): PackageEntry;
  notes: string[];
  stderr(): string;
  on: LaunchEvents;
  /** Installs what is needed. */
  launch(entry: PackageEntry): Promise<Launch>;
}

let cookies = 0;

/** Packages of a folder as a daemon has them; two of the same folder are two daemons. */
export function openStore(
  registry: Registry,
  folder = makeFolder(),
  settings: Partial<Settings> = {},
  clock: Clock = systemClock,
): Store {
  cookies += 1;
  const table = new ProcessTable({ daemonId: `test-${process.pid}-${cookies}`, clock: systemClock });
  const packages = new Packages({
    folder,
    table,
    clock,
    settings: () => ({ runner: 'direct', updateCheckMs: 0, runsScripts: true, ...settings }),
  });
  const notes: string[] = [];
  let stderr = '';
  const on: LaunchEvents = {
    note: (text) => void notes.push(text),
    stderr: (chunk) => {
      stderr += chunk.toString('utf8');
    },
  };
  atEnd(() => packages.close());
  return {
    packages,
    folder,
    table,
    notes,
    stderr: () => stderr,
    on,
    entry(args, fields = {}, env = {}) {
      const declared = { ...registry.env, ...env };
      const base = { PATH: process.env.PATH ?? '', HOME: folder };
      return {
        server: 'one',
        command: 'npx',
        args,
        cwd: emptyFolder(folder),
        declared,
        env: (cookie) => ({ ...base, ...declared, TOOLHERD_COOKIE: cookie }),
        runner: undefined,
        update: 'auto',
        ...fields,
      };
    },
    async launch(entry) {
      const launching = packages.launch(entry, on);
      if (launching === undefined) throw new Error('not npx');
      return 'launch' in launching ? launching.launch : launching.coming;
    },
  };
}

function emptyFolder(folder: string): string {
  const empty = join(folder, 'empty');
  mkdirSync(empty, { recursive: true });
  return empty;
}

/** What a program prints when it is started by this launch, or by the command of the entry. */
export function outputOf(
  entry: PackageEntry,
  launch?: Launch,
): Promise<{ stdout: string; code: number | null }> {
  const { command, args } = launch ?? entry;
  const base = entry.env('');
  const PATH = [...(launch?.path ?? []), base.PATH].join(':');
  const child = spawn(command, args, {
    cwd: entry.cwd,
    env: { ...launch?.env, ...base, PATH },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ stdout, code }));
  });
}
