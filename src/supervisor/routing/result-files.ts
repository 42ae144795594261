import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface ResultFilesOptions {
  folder: string;
  /** Milliseconds since 1970. */
  now(): number;
  log(text: string): void;
  maxAgeMs?: number;
  maxBytes?: number;
  maxFiles?: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const DEFAULT_BYTES = 256 * 2 ** 20;
const DEFAULT_FILES = 1000;
const SUFFIX = '.txt';

/**
 * Texts that were too long for an agent, each in a file that only the user may read. Old files are deleted. A text that was
 * kept for an owner can be read by its id, by that owner, until the daemon ends: owners are connections of this daemon.
 */
export class ResultFiles {
  readonly #options: ResultFilesOptions;
  /** By the id of the text. */
  readonly #owners = new Map<string, string>();
  #lastWrittenAt = 0;
  /** One tidying at a time: two would count what the other removes. */
  #tidying: Promise<void> = Promise.resolve();
  /** The next run. It looks at every file, so it serves all requests that come before it begins. */
  #next: Promise<void> | undefined;

  constructor(options: ResultFilesOptions) {
    this.#options = options;
  }

  /** Answers with the file's address; undefined when the disk does not take it, which the log explains. */
  async keep(text: string, owner?: string): Promise<string | undefined> {
    const { folder, log, now } = this.#options;
    const id = randomBytes(12).toString('hex');
    const path = join(folder, `${id}${SUFFIX}`);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(path, text, { mode: 0o600, flag: 'wx' });
      // a file system gives the same time to all that is written within some milliseconds: the newest would be unknown
      this.#lastWrittenAt = Math.max(now(), this.#lastWrittenAt + 1);
      const seconds = this.#lastWrittenAt / 1000;
      await utimes(path, seconds, seconds);
    } catch (error) {
      log(`a result over result_limit could not be kept: ${String(error)}`);
      // half of it would only fill a full disk further
      await rm(path, { force: true }).catch(() => undefined);
      return undefined;
    }
    if (owner !== undefined) this.#owners.set(id, owner);
    await this.tidy();
    return pathToFileURL(path).href;
  }

  /** Undefined for an id of another owner too: an agent must not learn that it exists. */
  async read(id: string, owner: string): Promise<string | undefined> {
    if (this.#owners.get(id) !== owner) return undefined;
    await this.tidy();
    if (!this.#owners.has(id)) return undefined;
    return readFile(join(this.#options.folder, `${id}${SUFFIX}`), 'utf8').catch(() => undefined);
  }

  /** Removes what is too old, and the oldest while there is too much. The newest always stays. */
  tidy(): Promise<void> {
    this.#next ??= this.#tidying.then(() => {
      this.#next = undefined;
      this.#tidying = this.#tidy().catch(() => undefined);
      return this.#tidying;
    });
    return this.#next;
  }

  async #tidy(): Promise<void> {
    const { folder, now, maxAgeMs = DAY_MS, maxBytes = DEFAULT_BYTES, maxFiles } = this.#options;
    const names = await readdir(folder).catch(() => []);
    const found = await Promise.all(
      names.filter((name) => name.endsWith(SUFFIX)).map((name) => look(folder, name)),
    );
    const files = found.filter((file) => file !== undefined).sort((a, b) => b.writtenAt - a.writtenAt);
    let bytes = 0;
    for (const [age, { path, size, writtenAt }] of files.entries()) {
      bytes += size;
      const isTooMuch =
        bytes > maxBytes || age >= (maxFiles ?? DEFAULT_FILES) || now() - writtenAt > maxAgeMs;
      if (!isTooMuch || age === 0) continue;
      this.#owners.delete(idOfKept(path));
      await rm(path, { force: true });
    }
  }
}

/** The id of a kept text, from the path or the address of its file. */
export function idOfKept(place: string): string {
  return basename(place, SUFFIX);
}

async function look(folder: string, name: string) {
  const path = join(folder, name);
  try {
    const { size, mtimeMs: writtenAt } = await stat(path);
    return { path, size, writtenAt };
  } catch {
    // another tidying was faster
    return undefined;
  }
}
