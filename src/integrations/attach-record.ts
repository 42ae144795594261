import { existsSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { replaceFile } from '../shared/files/replace-file.js';
import { isObject } from '../shared/json.js';

/** What `attach` made, so that `detach` can take all of it back. */
interface Made {
  /** Files that did not exist before. */
  files: readonly string[];
  /** Folders that did not exist before. */
  folders: readonly string[];
}

const NOTHING: Made = { files: [], folders: [] };

/**
 * The record of what `attach` made, in a file of toolherd. Where it cannot be read or written, `detach` leaves empty
 * folders, and a file to which the client has added something.
 */
export class AttachRecord {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  hasMade(file: string): boolean {
    return this.#read().files.includes(file);
  }

  add(file: string, folders: readonly string[]): void {
    const made = this.#read();
    this.#write({
      files: [...new Set([...made.files, file])],
      folders: [...new Set([...made.folders, ...folders])],
    });
  }

  /** The client is detached: removes the empty folders that were made for it, and forgets it. */
  remove(file: string): void {
    const made = this.#read();
    const files = made.files.filter((one) => one !== file && existsSync(one));
    // a longer path is the inner folder
    const folders = [...made.folders].sort((a, b) => b.length - a.length);
    const left = folders.filter((folder) => !isAbove(folder, file) || !removeEmpty(folder));
    const needed = left.filter((folder) => files.some((one) => isAbove(folder, one)));
    if (files.length !== made.files.length || needed.length !== made.folders.length)
      this.#write({ files, folders: needed });
  }

  #read(): Made {
    try {
      const content: unknown = JSON.parse(readFileSync(this.#path, 'utf8'));
      if (!isObject(content) || content.version !== 1) return NOTHING;
      return { files: textsOf(content.files), folders: textsOf(content.folders) };
    } catch {
      return NOTHING;
    }
  }

  #write(made: Made): void {
    try {
      if (made.files.length === 0) rmSync(this.#path, { force: true });
      else replaceFile(this.#path, `${JSON.stringify({ version: 1, ...made }, undefined, 1)}\n`);
    } catch {
      // the config of the client counts, and it is written
    }
  }
}

/** The folders that have to be made for a file. */
export function missingFolders(file: string): string[] {
  const folder = dirname(file);
  return existsSync(folder) ? [] : [folder, ...missingFolders(folder)];
}

function textsOf(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : [];
}

function isAbove(folder: string, file: string): boolean {
  return file.startsWith(`${folder}/`);
}

function removeEmpty(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return !existsSync(folder);
  }
}
