import { realpathSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import type { CommandContext } from '../core/command.js';

/** The program of the command; the bundles of all commands are beside it. */
const MAIN = 'main.cjs';

/**
 * How another program starts this command, whatever its PATH: Node and the command by absolute paths. A graphical program
 * has another PATH than a shell, and with a version manager neither is on it. A path on our own PATH that leads to the same
 * file is preferred, because it stays valid after an update.
 */
export function ownCommand({ environment }: Pick<CommandContext, 'environment'>): [string, string] {
  const folders = (environment.PATH ?? '').split(delimiter).filter((folder) => folder.startsWith('/'));
  return [
    onPath(folders, basename(process.execPath), process.execPath),
    onPath(folders, 'toolherd', join(__dirname, MAIN)),
  ];
}

/** npm deletes the cache of npx when it wants to. `again`: the command that writes the path anew. */
export function npxWarning(script = '', again: string): string | undefined {
  if (!/[/\\]_npx[/\\]/.test(script)) return undefined;
  return `warning: ${script} is in the cache of npx, which npm may delete; better: npm install --global toolherd, then: ${again}`;
}

function onPath(folders: readonly string[], name: string, file: string): string {
  const real = realOf(file);
  const candidates = folders.map((folder) => join(folder, name));
  return candidates.find((candidate) => realOf(candidate) === real) ?? file;
}

function realOf(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}
