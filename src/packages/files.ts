import { readFileSync, type Stats, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject, type JsonObject } from '../shared/json.js';

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

/** As a shell finds it. */
export function findProgram(name: string, folders: readonly string[]): string | undefined {
  for (const folder of folders) {
    const file = join(folder || '.', name);
    if (isProgram(file)) return file;
  }
  return undefined;
}

export function isProgram(file: string): boolean {
  const stat = statOf(file);
  return stat?.isFile() === true && (stat.mode & 0o111) !== 0;
}

/** Removes a folder; one that cannot be removed is tried again by the next `prune`. */
export async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}
