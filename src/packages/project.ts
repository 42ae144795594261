import { dirname, join } from 'node:path';
import type { JsonObject } from '../shared/json.js';
import { exists, readJson } from './files.js';

/** The folder that npm takes for the project of a working folder (its "local prefix"). */
export interface Project {
  folder: string;
  /** Its package.json; undefined where it has none. */
  manifest: JsonObject | undefined;
  /** A parent folder has workspaces, of which this may be one. */
  isInWorkspaces: boolean;
  /** It has settings for npm. */
  hasSettings: boolean;
}

/** As @npmcli/config finds it. `userConfig`: the user's own .npmrc, which counts for every folder. */
export function findProject(cwd: string, userConfig: string): Project {
  const folders = [...upward(cwd)];
  const at = folders.findIndex((folder) => exists(folder, 'package.json') || exists(folder, 'node_modules'));
  const folder = folders[at] ?? cwd;
  const isInWorkspaces =
    at !== -1 &&
    folders.slice(at + 1).some((parent) => readJson(join(parent, 'package.json'))?.workspaces !== undefined);
  const settings = join(folder, '.npmrc');
  return {
    folder,
    manifest: readJson(join(folder, 'package.json')),
    isInWorkspaces,
    hasSettings: settings !== userConfig && exists(settings),
  };
}

/** A folder and all its parents. */
export function* upward(from: string): Generator<string> {
  for (let folder = from; ; folder = dirname(folder)) {
    yield folder;
    if (folder === dirname(folder)) return;
  }
}
