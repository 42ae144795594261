import { delimiter, join } from 'node:path';
import type { ServerStatus } from '../fleet/status.js';
import type { ProcessTable } from '../processes/table.js';
import { type Clock, dateOf } from '../shared/clock.js';
import { chooseBin } from './bins.js';
import { type Choice, choose, type Wanted } from './choose.js';
import type { Launch, LaunchEvents, Launching, PackageEntry } from './entry.js';
import { noCommand, PackageError } from './errors.js';
import { findProgram } from './files.js';
import { GlobalPrefixes } from './global-prefix.js';
import { hash } from './hash.js';
import { Installer } from './installer.js';
import { binFolders, launchFile } from './launch-file.js';
import { isNpx, type NpxCommand } from './npx-command.js';
import { type Installed, PackageStore } from './package-store.js';
import { type AskedVersions, Versions } from './versions.js';

/** How an entry with npx is run. */
export type Runner = Pick<ServerStatus, 'runner' | 'package'>;

export interface PackagesOptions {
  folder: string;
  table: ProcessTable;
  clock: Clock;
  settings(): { runner: 'direct' | 'plain'; updateCheckMs: number; runsScripts: boolean };
}

export interface Updated {
  version: string;
  refused: string | null;
}

/**
 * Runs packages without npx: npm installs each once, and its command is started directly. What npx would do is decided at
 * each start anew by what is on the disk; only an installation has to be waited for.
 */
export class Packages {
  readonly #options: PackagesOptions;
  readonly #store: PackageStore;
  readonly #installer: Installer;
  readonly #prefixes: GlobalPrefixes;
  readonly #versions: Versions;
  /** Of what is started: where Node keeps code that it has compiled. Node before 22.1 ignores it. */
  readonly #env: Launch['env'];
  readonly #closing = new AbortController();
  /** The version that each server was last started with. */
  readonly #launched = new Map<string, string>();
  /** The folder of the last start, by entry. */
  readonly #runningFolders = new Map<string, string>();
  readonly #running = new Set<Promise<unknown>>();
  #changes = 0;

  constructor(options: PackagesOptions) {
    this.#options = options;
    const { folder, clock } = options;
    this.#store = new PackageStore(folder, () => dateOf(clock));
    this.#installer = new Installer(this.#store, options);
    this.#env = { NODE_COMPILE_CACHE: this.#store.compileCache };
    const closing = this.#closing.signal;
    this.#prefixes = new GlobalPrefixes(join(folder, 'npm'), options, closing);
    this.#versions = new Versions({
      ...options,
      store: this.#store,
      installer: this.#installer,
      updateCheckMs: () => options.settings().updateCheckMs,
      closing,
    });
  }

  /** Changes with each start, installation and answer of npm: then `describe` may have another answer. */
  get changes(): number {
    return this.#changes;
  }

  /** Undefined for an entry that has nothing to do with npx. Throws a PackageError where there is nothing to start. */
  launch(entry: PackageEntry, on: LaunchEvents): Launching | undefined {
    if (!isNpx(entry.command)) return undefined;
    this.#changes += 1;
    const choice = this.#choose(entry);
    const launch = this.#atOnce(entry, choice, on);
    if (launch !== undefined) return { launch };
    const controller = new AbortController();
    const coming = this.#track(this.#later(entry, choice, on, controller.signal));
    return { coming, cancel: () => controller.abort() };
  }

  /** Undefined for an entry that has nothing to do with npx. */
  describe(entry: PackageEntry): Runner | undefined {
    if (!isNpx(entry.command)) return undefined;
    const choice = this.#choose(entry);
    if (choice.kind === 'plain') return { runner: `plain: ${choice.why}` };
    if (choice.kind === 'ask') return { runner: 'direct' };
    const { command } = choice.kind === 'found' ? choice : choice.wanted;
    const next = choice.kind === 'found' ? choice.version : this.#store.find(choice.wanted)?.version;
    const version = this.#launched.get(launchKey(entry)) ?? next;
    const { name, raw: requested } = command;
    return { runner: 'direct', ...(version !== undefined && { package: { name, requested, version } }) };
  }

  /**
   * Asks npm for the newest version of an entry's package. Undefined where it cannot change: an exact version, or a package
   * that is not from the store.
   */
  async versions(entry: PackageEntry): Promise<AskedVersions | undefined> {
    const wanted = await this.#track(this.#moving(entry));
    return wanted && this.#track(this.#versions.ask(entry, wanted, this.#launched.get(launchKey(entry))));
  }

  /**
   * Installs the newest version of an entry's package, which the next start uses. `latest`: which version npm said that
   * is; `refused`: why npm installed another one. Rejects with a PackageError.
   */
  async update(entry: PackageEntry, latest: string): Promise<Updated | undefined> {
    const wanted = await this.#track(this.#moving(entry));
    if (wanted === undefined) return undefined;
    const { version } = await this.#track(this.#versions.update(wanted, latest));
    return { version, refused: this.#versions.refusalOf(wanted, latest) };
  }

  /** Removes leftovers of killed installations, and versions that none of these entries used for 30 days. */
  async prune(entries: readonly PackageEntry[]): Promise<void> {
    // a running process keeps its files, also when the next start has another version
    const used = new Set(entries.map((entry) => this.#runningFolders.get(launchKey(entry)) ?? ''));
    for (const entry of entries) {
      const wanted = await this.#track(this.#inStore(entry));
      const folder = wanted && this.#store.find(wanted)?.folder;
      if (folder !== undefined) used.add(folder);
    }
    await this.#track(this.#store.prune(used));
  }

  /** Kills every npm. Resolves when nothing of them is left. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#installer.close();
    await this.#versions.close();
    await Promise.allSettled(this.#running);
  }

  #choose(entry: PackageEntry): Choice {
    return choose(entry, { ...this.#options.settings(), prefixes: this.#prefixes, env: this.#env });
  }

  /** Undefined where npm has to run first. */
  #atOnce(entry: PackageEntry, choice: Choice, on: LaunchEvents): Launch | undefined {
    if (choice.kind === 'plain') {
      const { runsScripts } = this.#options.settings();
      const env: Record<string, string> = runsScripts ? {} : { npm_config_ignore_scripts: 'true' };
      return { command: entry.command, args: entry.args, path: [], env };
    }
    if (choice.kind === 'found') {
      this.#noteLaunch(entry, choice.command, choice.version, ` (${choice.where})`, on);
      return choice.launch;
    }
    const installed = choice.kind === 'store' ? this.#store.find(choice.wanted) : undefined;
    if (choice.kind === 'ask' || installed === undefined) return undefined;
    this.#versions.checkSoon(entry, choice.wanted, on);
    return this.#launchOf(entry, choice.wanted, installed, on);
  }

  async #later(entry: PackageEntry, choice: Choice, on: LaunchEvents, signal: AbortSignal): Promise<Launch> {
    const ending = AbortSignal.any([signal, this.#closing.signal]);
    let next = choice;
    if (next.kind === 'ask') {
      await this.#prefixes.ask(next.source);
      ending.throwIfAborted();
      next = this.#choose(entry);
      const launch = this.#atOnce(entry, next, on);
      if (launch !== undefined) return launch;
    }
    if (next.kind !== 'store') throw new PackageError('npm did not say where its global packages are');
    const { wanted } = next;
    on.note(`npm installs ${wanted.command.raw}`);
    const { done, leave } = this.#installer.join({ ...wanted, isUpdate: false }, on);
    ending.addEventListener('abort', leave, { once: true });
    const installed = await done;
    ending.throwIfAborted();
    return this.#launchOf(entry, wanted, installed, on);
  }

  #launchOf(entry: PackageEntry, { command }: Wanted, installed: Installed, on: LaunchEvents): Launch {
    const bins = join(installed.folder, 'node_modules', '.bin');
    const path = [bins, ...binFolders(entry.cwd)];
    const bin = command.bin ?? chooseBin(command.name, installed.bins);
    // npx runs a named command wherever PATH has it
    const elsewhere = command.bin === undefined ? [] : (entry.env('').PATH ?? '').split(delimiter);
    const file = bin === undefined ? undefined : findProgram(bin, [...path, ...elsewhere]);
    if (file === undefined) throw noCommand(command, installed);
    this.#store.touch(installed);
    this.#runningFolders.set(launchKey(entry), installed.folder);
    this.#noteLaunch(entry, command, installed.version, '', on);
    return launchFile(file, command.args, path, this.#env);
  }

  #noteLaunch(
    entry: PackageEntry,
    { name }: NpxCommand,
    version: string | undefined,
    where: string,
    on: LaunchEvents,
  ): void {
    const key = launchKey(entry);
    const before = this.#launched.get(key);
    if (version !== undefined) this.#launched.set(key, version);
    const changed = before === undefined || before === version ? '' : `; the last start had ${before}`;
    on.note(`runs ${name}${version === undefined ? '' : ` ${version}`} without npx${where}${changed}`);
  }

  /** Of an entry whose package is in the store, or will be. */
  async #inStore(entry: PackageEntry): Promise<Wanted | undefined> {
    if (!isNpx(entry.command)) return undefined;
    const choice = this.#choose(entry);
    if (choice.kind === 'ask') await this.#prefixes.ask(choice.source);
    const settled = choice.kind === 'ask' ? this.#choose(entry) : choice;
    return settled.kind === 'store' ? settled.wanted : undefined;
  }

  /** The same, if its version may change. */
  async #moving(entry: PackageEntry): Promise<Wanted | undefined> {
    const wanted = await this.#inStore(entry);
    return wanted?.command.kind === 'exact' ? undefined : wanted;
  }

  /** Everything that may change what is on the disk. */
  #track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    const done = () => {
      this.#changes += 1;
      this.#running.delete(work);
    };
    work.then(done, done);
    return work;
  }
}

function launchKey({ server, command, args, cwd }: PackageEntry): string {
  return hash(JSON.stringify([server, command, args, cwd]));
}
