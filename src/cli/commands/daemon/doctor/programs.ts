import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { compareVersions } from '../../../../shared/text/compare-versions.js';
import { NODE_NEEDED } from '../../../../shared/version.js';
import type { CommandContext } from '../../../core/command.js';
import { error, type Finding, ok, warn } from './finding.js';

/** The programs that usually start servers, and how to install them. */
const RUNNERS: Readonly<Record<string, string>> = {
  npx: 'install Node with npm (it brings npx), if a server of yours runs with npx',
  uvx: 'install uv (it brings uvx), if a server of yours runs with uvx',
  docker: 'install Docker, if a server of yours runs in a container',
};

export function checkNode(version: string): Finding {
  if (compareVersions(version, NODE_NEEDED) >= 0) return ok('node', `Node ${version}`);
  return error('node', `Node ${version} is too old`, `install Node ${NODE_NEEDED} or later`);
}

/** `needed`: the programs of the servers in the config. A missing one that no server needs is only a warning. */
export function checkPrograms({ environment }: CommandContext, needed: ReadonlySet<string>): Finding[] {
  const path = environment.PATH ?? '';
  if (path === '') return [error('path', 'PATH is empty', 'set PATH; servers are found by it')];
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  // the daemon searches the folder of Node too, after PATH
  const places = [...folders, dirname(process.execPath)];
  const relative = folders.filter((folder) => !isAbsolute(folder));
  const oddity =
    relative.length === 0
      ? ok('path', `PATH has ${folders.length} folders`)
      : warn('path', `PATH has relative folders: ${relative.join(', ')}`, 'make them absolute');
  const names = [...new Set([...Object.keys(RUNNERS), ...needed])];
  return [oddity, ...names.map((name) => checkProgram(name, places, needed.has(name)))];
}

function checkProgram(name: string, folders: readonly string[], isNeeded: boolean): Finding {
  const place = isAbsolute(name)
    ? [name].find(isProgram)
    : folders.map((folder) => join(folder, name)).find(isProgram);
  const about = isAbsolute(name) ? 'command' : name;
  if (place !== undefined) return ok(about, `${name} is ${place}`);
  const fix = RUNNERS[name] ?? `install ${name}, or correct 'command' in the config`;
  if (isNeeded) return error(about, `${name} was not found in PATH, and a server needs it`, fix);
  return warn(about, `${name} was not found in PATH`, fix);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
