import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../shared/files/replace-file.js';

export interface CachedAnswer {
  url: string;
  /** ISO 8601. */
  fetchedAt: string;
  body: string;
}

const MAX_FILES = 300;

/** The last answer to each request, for when the registry cannot be reached. One file each; any file may be lost. */
export class AnswerCache {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  find(url: URL): CachedAnswer | undefined {
    const cached = this.#read(nameOf(url.href));
    return cached?.url === url.href ? cached : undefined;
  }

  /** Every cached answer of this registry, newest first. */
  all(base: string): CachedAnswer[] {
    return this.#names()
      .flatMap((name) => this.#read(name) ?? [])
      .filter(({ url }) => url.startsWith(`${base}/`))
      .sort((a, b) => (a.fetchedAt < b.fetchedAt ? 1 : -1));
  }

  /** A write that fails is ignored: the cache only helps later commands. */
  save(url: URL, body: string, now: number): void {
    const head = JSON.stringify({ url: url.href, fetched_at: new Date(now).toISOString() });
    const file = join(this.#folder, nameOf(url.href));
    try {
      replaceFile(file, `${head}\n${body}`);
    } catch {
      return;
    }
    this.#removeOldest();
  }

  #read(name: string): CachedAnswer | undefined {
    try {
      const text = readFileSync(join(this.#folder, name), 'utf8');
      const end = text.indexOf('\n');
      const { url, fetched_at: fetchedAt } = JSON.parse(text.slice(0, end));
      const body = text.slice(end + 1);
      JSON.parse(body);
      if (typeof url === 'string' && typeof fetchedAt === 'string') return { url, fetchedAt, body };
    } catch {
      // missing or damaged: there is no cached answer
    }
    return undefined;
  }

  #names(): string[] {
    try {
      return readdirSync(this.#folder).filter((name) => name.endsWith('.json'));
    } catch {
      return [];
    }
  }

  #removeOldest(): void {
    const names = this.#names();
    if (names.length <= MAX_FILES) return;
    const ages = names.map((name) => {
      const file = join(this.#folder, name);
      return { file, at: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
    });
    const oldest = ages.sort((a, b) => a.at - b.at).slice(0, names.length - MAX_FILES);
    for (const { file } of oldest) rmSync(file, { force: true });
  }
}

function nameOf(url: string): string {
  return `${createHash('sha256').update(url).digest('hex').slice(0, 32)}.json`;
}
