import { accessSync, constants, existsSync, lstatSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkSocketPath, look } from '../../../../ipc/socket/socket-path.js';
import { serverLogFolder } from '../../../../log/log-paths.js';
import { shellWord } from '../../../../shared/text/shell-word.js';
import type { CommandContext } from '../../../core/command.js';
import { bytes } from '../../../ui/table.js';
import { error, type Finding, ok, warn, wordsOf } from './finding.js';

const LITTLE_BYTES = 100 * 2 ** 20;
const MUCH_LOG_BYTES = 2 ** 30;

export function checkSocketPlace(socket: string): Finding {
  try {
    checkSocketPath(socket);
    return ok('socket', socket);
  } catch (failure) {
    const { message, fix } = wordsOf(failure);
    return error('socket', message, fix);
  }
}

/** Folders that toolherd writes to. A missing one is made when it is needed. */
export function checkFolders({ paths }: CommandContext): Finding[] {
  return [
    ['state', paths.stateFolder],
    ['cache', paths.cacheFolder],
  ].map(([about = '', folder = '']) => {
    const there = nearest(folder);
    try {
      accessSync(there, constants.W_OK | constants.X_OK);
    } catch {
      return error(
        about,
        `${there} cannot be written to`,
        `chmod u+rwx ${shellWord(there)}, or make it yours`,
      );
    }
    const mode = look(folder)?.mode ?? 0o700;
    if (about === 'state' && (mode & 0o022) !== 0) {
      return error(about, `others can write to ${folder}`, `chmod 700 ${shellWord(folder)}`);
    }
    return ok(about, there === folder ? folder : `${folder} (not there yet)`);
  });
}

export function checkDisk({ paths }: CommandContext): Finding {
  const { bavail, bsize } = statfsSync(nearest(paths.stateFolder));
  const free = bavail * bsize;
  if (free >= LITTLE_BYTES) return ok('disk', `${bytes(free)} free for logs and state`);
  return warn('disk', `only ${bytes(free)} free at ${paths.stateFolder}`, 'make room: logs would lose lines');
}

export function checkLogs({ paths }: CommandContext): Finding {
  let size = 0;
  try {
    size = [paths.logFolder, serverLogFolder(paths.logFolder)].reduce((sum, it) => sum + sizeOf(it), 0);
  } catch (failure) {
    const fix = `make ${paths.logFolder} a folder of your own, or move it away`;
    return error('logs', `the logs cannot be looked at: ${(failure as Error).message}`, fix);
  }
  if (size < MUCH_LOG_BYTES) return ok('logs', `${bytes(size)} in ${paths.logFolder}`);
  const fix = 'lower daemon.log_max_bytes, or remove files of servers that are gone';
  return warn('logs', `${bytes(size)} in ${paths.logFolder}`, fix);
}

/** The packages that toolherd installed for npx entries. */
export function checkPackages({ paths }: CommandContext): Finding {
  const folder = join(paths.cacheFolder, 'packages');
  if (!existsSync(folder)) return ok('packages', 'none is installed');
  const count = existsSync(join(folder, 'installed')) ? readdirSync(join(folder, 'installed')).length : 0;
  return ok('packages', `${count} installed, ${bytes(treeSize(folder))} in ${folder}`);
}

function treeSize(folder: string): number {
  // installations come and go meanwhile
  const size = (file: string) => lstatSync(file, { throwIfNoEntry: false })?.size ?? 0;
  try {
    return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
      const path = join(folder, entry.name);
      return sum + (entry.isDirectory() ? treeSize(path) : size(path));
    }, 0);
  } catch {
    return 0;
  }
}

function sizeOf(folder: string): number {
  if (!existsSync(folder)) return 0;
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  // a file may vanish while the folder is read: logs are rotated
  const size = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return files.reduce((sum, { name }) => sum + size(join(folder, name)), 0);
}

function nearest(folder: string): string {
  return existsSync(folder) || folder === dirname(folder) ? folder : nearest(dirname(folder));
}
