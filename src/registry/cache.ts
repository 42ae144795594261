import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from '../config/edit/write-file.js';

export interface Kept {
  url: string;
  /** ISO 8601. */
  fetchedAt: string;
  body: string;
}

const MOST_FILES = 300;

/** The last answer to each question, for the time when the registry cannot be asked. A file each; any may be lost. */
export class AnswerCache {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  find(url: URL): Kept | undefined {
    const kept = this.#read(nameOf(url.href));
    return kept?.url === url.href ? kept : undefined;
  }

  /** Everything that is kept from this registry, newest first. */
  all(base: string): Kept[] {
    return this.#names()
      .flatMap((name) => this.#read(name) ?? [])
      .filter(({ url }) => url.startsWith(`${base}/`))
      .sort((a, b) => (a.fetchedAt < b.fetchedAt ? 1 : -1));
  }

  /** What cannot be kept is no reason to fail: it was only for another day. */
  async keep(url: URL, body: string, now: number): Promise<void> {
    const head = JSON.stringify({ url: url.href, fetched_at: new Date(now).toISOString() });
    const file = join(this.#folder, nameOf(url.href));
    await writeFileAtomically(file, `${head}\n${body}`).catch(() => undefined);
    this.#forgetOldest();
  }

  #read(name: string): Kept | undefined {
    try {
      const text = readFileSync(join(this.#folder, name), 'utf8');
      const end = text.indexOf('\n');
      const { url, fetched_at: fetchedAt } = JSON.parse(text.slice(0, end));
      const body = text.slice(end + 1);
      JSON.parse(body);
      if (typeof url === 'string' && typeof fetchedAt === 'string') return { url, fetchedAt, body };
    } catch {
      // not there, or not whole: then there is no answer
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

  #forgetOldest(): void {
    const names = this.#names();
    if (names.length <= MOST_FILES) return;
    const ages = names.map((name) => {
      const file = join(this.#folder, name);
      return { file, at: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
    });
    const oldest = ages.sort((a, b) => a.at - b.at).slice(0, names.length - MOST_FILES);
    for (const { file } of oldest) rmSync(file, { force: true });
  }
}

function nameOf(url: string): string {
  return `${createHash('sha256').update(url).digest('hex').slice(0, 32)}.json`;
}
