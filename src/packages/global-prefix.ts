import { statSync } from 'node:fs';
import { join } from 'node:path';
import { shareByKey } from '../shared/async.js';
import { replaceFile } from '../shared/files/replace-file.js';
import { readJson } from './files.js';
import { hash } from './hash.js';
import type { NpmContext } from './installer.js';
import { type NpmDeps, runNpm } from './npm.js';
import { npmSettings } from './npm-settings.js';

/** What decides where `npm install -g` puts packages. */
export interface PrefixSource {
  npm: NpmContext;
  /** The user's .npmrc. */
  userFile: string;
  env: Readonly<Record<string, string>>;
}

const LIMIT_MS = 60_000;

/**
 * Where npm has the packages that are installed for all folders. Five files and several variables decide that, so npm is
 * asked once, and its answer is kept on the disk as long as the user's .npmrc is the same.
 */
export class GlobalPrefixes {
  readonly #folder: string;
  readonly #deps: NpmDeps;
  readonly #closing: AbortSignal;
  readonly #known = new Map<string, string>();
  readonly #sharing = shareByKey<void>();

  constructor(folder: string, deps: NpmDeps, closing: AbortSignal) {
    this.#folder = folder;
    this.#deps = deps;
    this.#closing = closing;
  }

  /** Undefined: npm has to be asked. Empty: npm did not say. */
  of(source: PrefixSource): string | undefined {
    const key = keyOf(source);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const stored = readJson(this.#file(key))?.prefix;
    if (typeof stored !== 'string') return undefined;
    this.#known.set(key, stored);
    return stored;
  }

  /** Afterwards `of` has an answer. Entries that start at the same time share it. Never rejects. */
  ask(source: PrefixSource): Promise<void> {
    const key = keyOf(source);
    return this.#sharing(key, () => this.#askNow(key, source));
  }

  async #askNow(key: string, { npm }: PrefixSource): Promise<void> {
    const args = ['prefix', '--global', '--no-update-notifier'];
    const signal = this.#closing;
    const end = await runNpm(this.#deps, { ...npm, args, cwd: '/', limitMs: LIMIT_MS, signal });
    if (signal.aborted) return;
    const prefix = end.code === 0 ? end.stdout.trim() : '';
    this.#known.set(key, prefix);
    if (prefix === '') return;
    try {
      replaceFile(this.#file(key), `${JSON.stringify({ prefix })}\n`);
    } catch {
      // the next daemon asks again
    }
  }

  #file(key: string): string {
    return join(this.#folder, `${key}.json`);
  }
}

function keyOf({ npm, userFile, env }: PrefixSource): string {
  const settings = npmSettings(env).filter(([name]) => /^npm_config_(prefix|globalconfig)$/.test(name));
  const written = statSync(userFile, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return hash(JSON.stringify([npm.program, userFile, written, settings, env.PREFIX ?? null]));
}
