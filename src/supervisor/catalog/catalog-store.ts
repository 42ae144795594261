import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../shared/errors.js';
import { pruneFiles } from '../../shared/files/prune-files.js';
import { replaceFile } from '../../shared/files/replace-file.js';
import { isObject, type JsonObject } from '../../shared/json.js';
import { type Lists, NO_LISTS, type StoredCatalog } from './lists.js';

/** The lists and instructions of servers from their last run, for the time when they do not run. */
export interface CatalogStore {
  /** Undefined when there is nothing, or nothing that makes sense. */
  load(identity: string): StoredCatalog | undefined;
  save(identity: string, catalog: StoredCatalog): void;
  /** Marks these servers as configured, and deletes the files of servers that were not for a long time. */
  prune(identities: readonly string[]): Promise<void>;
}

const FORMAT = 1;
const DAY_MS = 24 * 60 * 60 * 1000;
const FORGOTTEN_AFTER_MS = 90 * DAY_MS;
/** Larger files are not read: it would cost too much at every start. */
const MOST_BYTES = 16 * 2 ** 20;

/**
 * One file a server, named after the hash of its spec: a server that is started with anything else is another one. A
 * file's time says when its server was last configured. It is a cache: a file that cannot be written or read is ignored.
 */
export class CatalogFiles implements CatalogStore {
  readonly #folder: string;
  readonly #now: () => number;
  readonly #warn: (text: string) => void;
  readonly #complained = new Set<string>();

  constructor(folder: string, now: () => number, warn: (text: string) => void) {
    this.#folder = folder;
    this.#now = now;
    this.#warn = warn;
  }

  load(identity: string): StoredCatalog | undefined {
    const text = this.#read(identity);
    if (text === undefined) return undefined;
    const kept = parse(text);
    if (!isObject(kept)) return this.#complain(identity, 'it is no JSON object');
    if (kept.format !== FORMAT || !isObject(kept.lists))
      return this.#complain(identity, `it is not of the format ${FORMAT}`);
    const lists = { ...NO_LISTS };
    for (const key of Object.keys(NO_LISTS) as (keyof Lists)[]) {
      lists[key] = listOf(kept.lists[key]);
      if (lists[key] === undefined && kept.lists[key] !== undefined)
        this.#complain(identity, `its ${key} are no list of objects`);
    }
    const { instructions } = kept;
    return typeof instructions === 'string' ? { ...lists, instructions } : lists;
  }

  #read(identity: string): string | undefined {
    const file = this.#file(identity);
    try {
      if (statSync(file).size > MOST_BYTES)
        return this.#complain(identity, 'it is larger than any that was written');
      return readFileSync(file, 'utf8');
    } catch (error) {
      const code = codeOf(error);
      return code === 'ENOENT' ? undefined : this.#complain(identity, `it cannot be opened (${code})`);
    }
  }

  /** Once a file: it is written anew when its server has run. */
  #complain(identity: string, why: string): undefined {
    const file = this.#file(identity);
    if (this.#complained.has(file)) return;
    this.#complained.add(file);
    this.#warn(
      `the cached lists in ${file} are ignored: ${why}. Its server is started when its lists are needed, and the file is written again; if that does not help, remove it`,
    );
  }

  save(identity: string, { instructions, ...lists }: StoredCatalog): void {
    const file = this.#file(identity);
    try {
      const at = new Date(this.#now()).toISOString();
      const text = JSON.stringify({ format: FORMAT, at, lists, instructions });
      if (text.length > MOST_BYTES) {
        rmSync(file, { force: true });
        return;
      }
      replaceFile(file, text);
    } catch {
      // it is a cache: its server is asked again
    }
  }

  async prune(identities: readonly string[]): Promise<void> {
    const configured = new Set(identities.map((identity) => this.#file(identity)));
    await pruneFiles(this.#folder, configured, this.#now(), FORGOTTEN_AFTER_MS);
  }

  #file(identity: string): string {
    return join(this.#folder, `${identity}.json`);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function listOf(value: unknown): JsonObject[] | undefined {
  return Array.isArray(value) && value.every(isObject) ? value : undefined;
}
