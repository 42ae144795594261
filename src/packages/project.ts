import { readFileSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isObject, type JsonObject } from '../shared/json.js';

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

/** The commands of a package, by name. */
export type Bins = Readonly<Record<string, string>>;

export function binsOf({ bin, name }: JsonObject): Bins {
  if (typeof bin === 'string') return typeof name === 'string' ? { [unscoped(name)]: bin } : {};
  if (!isObject(bin)) return {};
  const bins = Object.entries(bin).filter((one): one is [string, string] => typeof one[1] === 'string');
  return Object.fromEntries(bins);
}

/** The command that npx runs of a package (libnpmexec/lib/get-bin-from-manifest.js); undefined: it refuses to choose. */
export function chooseBin(name: string, bins: Bins): string | undefined {
  if (new Set(Object.values(bins)).size === 1) return Object.keys(bins)[0];
  const own = unscoped(name);
  return Object.hasOwn(bins, own) ? own : undefined;
}

function unscoped(name: string): string {
  return name.replace(/^@[^/]+\//, '');
}

export function exists(...parts: string[]): boolean {
  return statOf(join(...parts)) !== undefined;
}

export function isFile(path: string): boolean {
  return statOf(path)?.isFile() === true;
}

/** Undefined also where a part of the path is no folder, or may not be read: PATH may name anything. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** Undefined where there is no such file, or no object in it. */
export function readJson(path: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
