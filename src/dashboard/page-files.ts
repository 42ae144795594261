import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

export interface PageFile {
  type: string;
  /** The file name of each encoding that the build made. */
  encodings: ReadonlyMap<string, string>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};
/** Best first. */
const ENCODINGS = { br: '.br', gzip: '.gz' } as const;

/** The files that the build made of src/page. A request names one of them exactly, so no path leads elsewhere. */
export class PageFiles {
  readonly #folder: string;
  readonly #files = new Map<string, PageFile>();

  constructor(folder: string) {
    this.#folder = folder;
    const names = new Set(readdirSync(folder));
    for (const name of names) {
      const type = TYPES[extname(name)];
      if (type === undefined) continue;
      const made = Object.entries(ENCODINGS).filter(([, ending]) => names.has(name + ending));
      const encodings = new Map(made.map(([encoding, ending]) => [encoding, name + ending]));
      this.#files.set(name, { type, encodings });
    }
  }

  find(name: string): PageFile | undefined {
    return this.#files.get(name);
  }

  read(name: string): Promise<Buffer> {
    return readFile(join(this.#folder, name));
  }
}

/** The best encoding that a request accepts; undefined: none. */
export function encodingOf({ encodings }: PageFile, accepted = ''): string | undefined {
  const wanted = accepted.split(',').map((part) => part.trim().toLowerCase());
  return [...encodings.keys()].find((encoding) => wanted.some((one) => one.split(';')[0] === encoding));
}
