import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isCode } from '../shared/errors.js';
import { replaceFile } from '../shared/files/replace-file.js';
import { isObject, type JsonObject } from '../shared/json.js';
import { type Bins, binsOf } from './bins.js';
import { exists, readJson, remove } from './files.js';
import { hash } from './hash.js';
import { isHolderAlive, isLockLeftover, ownIdentity } from './holder.js';
import type { NpxCommand } from './npx-command.js';

/** One version of a package, installed whole. */
export interface Installed {
  name: string;
  version: string;
  bins: Bins;
  /** Of its tarball, from npm's lock file. */
  integrity: string | null;
  folder: string;
}

/** What an entry asks for. */
export interface Request {
  command: NpxCommand;
  /** What else than the command changes the outcome of an installation. */
  influence: string;
  update: 'auto' | 'manual';
}

/** What a request (`name@latest`) was resolved to. */
export interface Resolved {
  version: string;
  /** The folder of the version; only its last part counts. */
  folder: string;
  /** When npm was last asked for a newer version; milliseconds since 1970. */
  checkedAt: number;
  /** What npm said then; absent before the first check. */
  latest?: string;
  /** The version that npm last did not install, though it is the latest, and why. */
  refused?: { version: string; why: string };
}

const FORMAT = 1;
const DAY_MS = 24 * 60 * 60 * 1000;
const FORGOTTEN_AFTER_MS = 30 * DAY_MS;
/** A folder without its owner's name is so old only if its installer was killed right after it made the folder. */
const UNOWNED_AFTER_MS = 60 * 60 * 1000;
const MANIFEST = 'installed.json';

/**
 * The packages that toolherd installed, on disk:
 *
 * | folder | what |
 * |---|---|
 * | `installed/NAME@VERSION-HASH` | one version, as npm installed it, and `installed.json`. A folder without a valid one is never used |
 * | `requests/HASH.json` | the version to which a request (`name@latest`) was resolved |
 * | `temporary/ID` | an installation that runs; its `owner` says which process does it |
 * | `locks/HASH` | one installer at a time for each request |
 * | `compiled` | code that Node has compiled (`NODE_COMPILE_CACHE`) |
 *
 * What a start reads is read synchronously: it is two small files.
 */
export class PackageStore {
  readonly folder: string;
  readonly #now: () => number;

  constructor(folder: string, now: () => number) {
    this.folder = folder;
    this.#now = now;
  }

  get compileCache(): string {
    return join(this.folder, 'compiled');
  }

  /** Entries with `update: manual` do not follow those with `auto`. */
  keyOf({ command, influence, update }: Request): string {
    return hash(`${command.raw}\n${influence}\n${update}`);
  }

  /** What a start uses; undefined where the package has to be installed first. */
  find(request: Request): Installed | undefined {
    const resolved = this.resolvedFor(request);
    return resolved && this.installed(resolved);
  }

  resolvedFor(request: Request): Resolved | undefined {
    return this.#resolved(this.keyOf(request));
  }

  lockFile(key: string): string {
    return join(this.folder, 'locks', key);
  }

  #resolved(key: string): Resolved | undefined {
    const file = readJson(this.#request(key));
    if (file?.format !== FORMAT) return undefined;
    const { version, folder, checkedAt, latest, refused } = file;
    if (typeof version !== 'string' || typeof folder !== 'string' || typeof checkedAt !== 'number')
      return undefined;
    return {
      ...{ version, folder: basename(folder), checkedAt },
      ...(typeof latest === 'string' && { latest }),
      ...(isRefused(refused) && { refused }),
    };
  }

  /** Throws the error of the file system. */
  remember(request: Request, resolved: Resolved): void {
    const folder = basename(resolved.folder);
    const text = JSON.stringify({ format: FORMAT, request: request.command.raw, ...resolved, folder });
    replaceFile(this.#request(this.keyOf(request)), `${text}\n`, { synced: 'before' });
  }

  /** Undefined where it is not there, or not whole. */
  installed({ folder: name }: Pick<Resolved, 'folder'>): Installed | undefined {
    const folder = join(this.folder, 'installed', basename(name));
    const file = readJson(join(folder, MANIFEST));
    if (file?.format !== FORMAT || typeof file.name !== 'string' || typeof file.version !== 'string')
      return undefined;
    const integrity = typeof file.integrity === 'string' ? file.integrity : null;
    const bins = binsOf({ bin: file.bins });
    // a program that cleans caches, or a machine that crashed, may leave a part of it
    const commands = Object.keys(bins);
    const isThere = (bin: string) => exists(folder, 'node_modules', '.bin', bin);
    if (commands.length > 0 && !commands.some(isThere)) return undefined;
    return { name: file.name, version: file.version, bins, integrity, folder };
  }

  /** Notes that a version is used; at most once a day. */
  touch({ folder }: Pick<Installed, 'folder'>): void {
    const file = join(folder, MANIFEST);
    try {
      const now = this.#now();
      if (now - statSync(file).mtimeMs > DAY_MS) utimesSync(file, now / 1000, now / 1000);
    } catch {
      // a folder that cannot be written is not pruned either
    }
  }

  /** A new folder for an installation. The installation works in `package`, which `keep` moves. */
  createTemporary(): { folder: string; package: string } {
    const folder = join(this.folder, 'temporary', randomBytes(8).toString('hex'));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'owner'), ownIdentity(), { mode: 0o600 });
    const inner = join(folder, 'package');
    mkdirSync(inner, { mode: 0o700 });
    writeFileSync(join(inner, 'package.json'), '{"private":true}\n');
    // npm takes packages below a link (~/.cache may be one) for those of another place
    return { folder, package: realpathSync(inner) };
  }

  /**
   * Makes a whole installation usable: by one rename, after its `installed.json` is on the disk. Another daemon may have
   * installed the same meanwhile: then that one is used. Throws the error of the file system.
   */
  keep(temporary: string, { command: { name }, influence }: Request): Installed {
    const lock = readJson(join(temporary, 'package-lock.json'))?.packages as JsonObject | undefined;
    const about = lock?.[`node_modules/${name}`] as JsonObject | undefined;
    const version = about?.version;
    if (about === undefined || typeof version !== 'string')
      throw new Error(`npm installed no ${name}, or wrote no lock file`);
    const integrity = typeof about.integrity === 'string' ? about.integrity : null;
    const bins = binsOf({ ...about, name });
    const at = new Date(this.#now()).toISOString();
    const text = JSON.stringify({ format: FORMAT, name, version, bins, integrity, at });
    replaceFile(join(temporary, MANIFEST), `${text}\n`, { synced: 'before' });
    const slug = name.replace('/', '+');
    const folder = `${slug}@${version.replaceAll(/[^\w.+-]/g, '_')}-${hash(influence).slice(0, 8)}`;
    const place = join(this.folder, 'installed', folder);
    mkdirSync(join(this.folder, 'installed'), { recursive: true, mode: 0o700 });
    this.#move(temporary, place, folder);
    return { name, version, bins, integrity, folder: place };
  }

  #move(from: string, to: string, name: string): void {
    try {
      renameSync(from, to);
      syncFolder(join(this.folder, 'installed'));
    } catch (error) {
      if (!isCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
      if (this.installed({ folder: name }) !== undefined) return;
      // a leftover without a valid installed.json: tidy removes it
      renameSync(to, join(this.folder, 'temporary', randomBytes(8).toString('hex')));
      renameSync(from, to);
    }
  }

  /** Removes what killed installers left. */
  async tidy(): Promise<void> {
    const temporary = join(this.folder, 'temporary');
    for (const name of await names(temporary)) {
      const folder = join(temporary, name);
      if (this.#isAbandoned(folder)) await remove(folder);
    }
    const locks = join(this.folder, 'locks');
    for (const name of await names(locks)) if (isLockLeftover(name)) await remove(join(locks, name));
  }

  /** Removes versions that were not used for 30 days. `used`: folders of versions that a config uses. */
  async prune(used: ReadonlySet<string>): Promise<void> {
    await this.tidy();
    const installed = join(this.folder, 'installed');
    for (const name of await names(installed)) {
      const folder = join(installed, name);
      if (used.has(folder)) this.touch({ folder });
      else if (this.#now() - writtenAt(join(folder, MANIFEST)) > FORGOTTEN_AFTER_MS)
        await this.#discard(folder);
    }
    // what is still used is compiled and kept again
    for (const name of await names(this.compileCache)) {
      const folder = join(this.compileCache, name);
      for (const file of (await names(folder)).map((one) => join(folder, one)))
        if (this.#now() - writtenAt(file) > FORGOTTEN_AFTER_MS) await remove(file);
    }
    const requests = join(this.folder, 'requests');
    for (const name of await names(requests)) {
      const resolved = this.#resolved(basename(name, '.json'));
      if (resolved === undefined || this.installed(resolved) === undefined)
        await remove(join(requests, name));
    }
  }

  /** Moved away first: half of a version must not be started. */
  async #discard(folder: string): Promise<void> {
    const aside = join(this.folder, 'temporary', randomBytes(8).toString('hex'));
    try {
      mkdirSync(join(this.folder, 'temporary'), { recursive: true, mode: 0o700 });
      renameSync(folder, aside);
    } catch {
      return;
    }
    await remove(aside);
  }

  #isAbandoned(folder: string): boolean {
    const isAlive = isHolderAlive(join(folder, 'owner'));
    return isAlive === undefined ? this.#now() - writtenAt(folder) > UNOWNED_AFTER_MS : !isAlive;
  }

  #request(key: string): string {
    return join(this.folder, 'requests', `${key}.json`);
  }
}

function isRefused(value: unknown): value is NonNullable<Resolved['refused']> {
  return isObject(value) && typeof value.version === 'string' && typeof value.why === 'string';
}

function syncFolder(folder: string): void {
  const file = openSync(folder, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

async function names(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

/** Infinity where it cannot be read: then it is left alone. */
function writtenAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
}
