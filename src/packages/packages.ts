import { delimiter, join } from 'node:path';
import type { ProcessTable } from '../processes/table.js';
import { type Clock, dateOf } from '../shared/clock.js';
import { messageOf } from '../shared/errors.js';
import { type Choice, choose, type Wanted } from './choose.js';
import type { Launch, LaunchEvents, Launching, PackageEntry } from './entry.js';
import { noCommand, PackageError } from './errors.js';
import { GlobalPrefixes } from './global-prefix.js';
import { Installer } from './installer.js';
import { binFolders, launchFile } from './launch-file.js';
import { newestVersion } from './newest.js';
import { findProgram } from './npm.js';
import { isNpx, type NpxCommand } from './npx-command.js';
import { hash, type Installed, PackageStore } from './package-store.js';
import { chooseBin } from './project.js';

/** How an entry with npx is run. */
export interface Runner {
  /** `direct`, or `plain: ` and why. */
  runner: string;
  /** Where its version is known. */
  package?: { name: string; requested: string; version: string };
}

/** A package whose version may change, and what npm says of it. */
export interface PackageVersions {
  server: string;
  package: string;
  requested: string;
  update: 'auto' | 'manual';
  /** Of the last start; where there was none, the one that is installed. */
  version: string | null;
  /** The one that the next start uses; null where none is. */
  installed: string | null;
  /** Null where npm did not say. */
  latest: string | null;
  problem: string | null;
}

export interface PackagesOptions {
  folder: string;
  table: ProcessTable;
  clock: Clock;
  settings(): { runner: 'direct' | 'plain'; updateCheckMs: number; runsScripts: boolean };
}

/** A check must not slow down the start that it follows, nor the start of a herd. */
const CHECK_DELAY_MS = 2000;

/**
 * Runs packages without npx: npm installs each once, and its command is started directly. What npx would do is decided at
 * each start anew by what is on the disk; only an installation has to be waited for.
 */
export class Packages {
  readonly #options: PackagesOptions;
  readonly #store: PackageStore;
  readonly #installer: Installer;
  readonly #prefixes: GlobalPrefixes;
  /** Of what is started: where Node keeps code that it has compiled. Node before 22.1 ignores it. */
  readonly #env: Launch['env'];
  readonly #closing = new AbortController();
  /** The version that each server was last started with. */
  readonly #launched = new Map<string, string>();
  /** When npm was last asked for a newer version, also where it did not answer; by request. */
  readonly #askedAt = new Map<string, number>();
  /** The folder of the last start, by entry. */
  readonly #runningFolders = new Map<string, string>();
  readonly #timers = new Set<unknown>();
  readonly #running = new Set<Promise<unknown>>();

  constructor(options: PackagesOptions) {
    this.#options = options;
    const { folder, clock } = options;
    this.#store = new PackageStore(folder, () => dateOf(clock));
    this.#installer = new Installer(this.#store, options);
    this.#env = { NODE_COMPILE_CACHE: this.#store.compileCache };
    this.#prefixes = new GlobalPrefixes(join(folder, 'npm'), options);
  }

  /** Undefined for an entry that has nothing to do with npx. Throws a PackageError where there is nothing to start. */
  launch(entry: PackageEntry, on: LaunchEvents): Launching | undefined {
    if (!isNpx(entry.command)) return undefined;
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
    const next = choice.kind === 'found' ? choice.version : this.#installed(choice.wanted)?.version;
    const version = this.#launched.get(launchKey(entry)) ?? next;
    const { name, raw: requested } = command;
    return { runner: 'direct', ...(version !== undefined && { package: { name, requested, version } }) };
  }

  /** Asks npm for the newest versions. Exact versions, and packages that are not in the store, are left out. */
  async versions(entries: readonly PackageEntry[]): Promise<PackageVersions[]> {
    const asked = entries.map(async (entry) => {
      const wanted = await this.#moving(entry);
      return wanted === undefined ? [] : [await this.#ask(entry, wanted)];
    });
    return (await this.#track(Promise.all(asked))).flat();
  }

  /** Installs the newest version of an entry's package, which the next start uses. Rejects with a PackageError. */
  async update(entry: PackageEntry): Promise<Installed | undefined> {
    const wanted = await this.#moving(entry);
    if (wanted === undefined) return undefined;
    return this.#track(this.#installer.join({ ...wanted, key: this.#keyOf(wanted), isUpdate: true }).done);
  }

  /** Removes leftovers of killed installations, and versions that none of these entries used for 30 days. */
  async prune(entries: readonly PackageEntry[]): Promise<void> {
    // a running process keeps its files, also when the next start has another version
    const used = new Set(entries.map((entry) => this.#runningFolders.get(launchKey(entry)) ?? ''));
    for (const entry of entries) {
      const wanted = await this.#track(this.#inStore(entry));
      const folder = wanted && this.#installed(wanted)?.folder;
      if (folder !== undefined) used.add(folder);
    }
    await this.#track(this.#store.prune(used));
  }

  /** Kills every npm. Resolves when nothing of them is left. */
  async close(): Promise<void> {
    for (const timer of this.#timers) this.#options.clock.clearTimeout(timer);
    this.#closing.abort();
    await this.#installer.close();
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
    const installed = choice.kind === 'store' ? this.#installed(choice.wanted) : undefined;
    if (choice.kind === 'ask' || installed === undefined) return undefined;
    this.#checkSoon(entry, choice.wanted, on);
    return this.#launchOf(entry, choice.wanted, installed, on);
  }

  async #later(entry: PackageEntry, choice: Choice, on: LaunchEvents, signal: AbortSignal): Promise<Launch> {
    const ending = AbortSignal.any([signal, this.#closing.signal]);
    let next = choice;
    if (next.kind === 'ask') {
      await this.#prefixes.ask(next.source, ending);
      ending.throwIfAborted();
      next = this.#choose(entry);
      const launch = this.#atOnce(entry, next, on);
      if (launch !== undefined) return launch;
    }
    if (next.kind !== 'store') throw new PackageError('npm did not say where its global packages are');
    const { wanted } = next;
    on.note(`npm installs ${wanted.command.raw}`);
    const order = { ...wanted, key: this.#keyOf(wanted), isUpdate: false };
    const { done, leave } = this.#installer.join(order, on.stderr);
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

  #installed(wanted: Wanted): Installed | undefined {
    const resolved = this.#store.resolved(this.#keyOf(wanted));
    return resolved && this.#store.installed(resolved);
  }

  #keyOf({ command, influence, update }: Wanted): string {
    return this.#store.keyOf(command, influence, update);
  }

  /** Of an entry whose package is in the store, or will be. */
  async #inStore(entry: PackageEntry): Promise<Wanted | undefined> {
    if (!isNpx(entry.command)) return undefined;
    const choice = this.#choose(entry);
    if (choice.kind === 'ask') await this.#prefixes.ask(choice.source, this.#closing.signal);
    const settled = choice.kind === 'ask' ? this.#choose(entry) : choice;
    return settled.kind === 'store' ? settled.wanted : undefined;
  }

  /** The same, if its version may change. */
  async #moving(entry: PackageEntry): Promise<Wanted | undefined> {
    const wanted = await this.#inStore(entry);
    return wanted?.command.kind === 'exact' ? undefined : wanted;
  }

  async #ask(entry: PackageEntry, wanted: Wanted): Promise<PackageVersions> {
    const { command, npm } = wanted;
    const installed = this.#installed(wanted)?.version ?? null;
    const version = this.#launched.get(launchKey(entry)) ?? installed;
    const { server, update } = entry;
    const about = { server, package: command.name, requested: command.raw, update, version, installed };
    try {
      const latest = await newestVersion(this.#options, npm, command, this.#closing.signal);
      this.#rememberCheck(wanted, latest);
      return { ...about, latest, problem: null };
    } catch (error) {
      return { ...about, latest: null, problem: messageOf(error) };
    }
  }

  #rememberCheck(wanted: Wanted, latest: string): void {
    const key = this.#keyOf(wanted);
    const resolved = this.#store.resolved(key);
    if (resolved === undefined) return;
    try {
      this.#store.remember(key, wanted.command, {
        ...resolved,
        checkedAt: dateOf(this.#options.clock),
        latest,
      });
    } catch {
      // it is asked again after the next start
    }
  }

  /** At most once in `daemon.update_check`, in the background. */
  #checkSoon(entry: PackageEntry, wanted: Wanted, on: LaunchEvents): void {
    const { clock, settings } = this.#options;
    const { updateCheckMs } = settings();
    const key = this.#keyOf(wanted);
    const resolved = this.#store.resolved(key);
    // a newer version that is known, from `outdated` for example, is not waited for
    const isKnown =
      entry.update === 'auto' && resolved?.latest !== undefined && resolved.latest !== resolved.version;
    const checkedAt = Math.max((isKnown ? undefined : resolved?.checkedAt) ?? 0, this.#askedAt.get(key) ?? 0);
    if (updateCheckMs === 0 || wanted.command.kind === 'exact' || dateOf(clock) - checkedAt < updateCheckMs)
      return;
    this.#askedAt.set(key, dateOf(clock));
    const timer = clock.setTimeout(() => {
      this.#timers.delete(timer);
      void this.#track(this.#check(entry, wanted, on)).catch(() => undefined);
    }, CHECK_DELAY_MS);
    this.#timers.add(timer);
  }

  async #check(entry: PackageEntry, wanted: Wanted, on: LaunchEvents): Promise<void> {
    const about = await this.#ask(entry, wanted);
    const { package: name, installed, latest } = about;
    // a tag may also have moved back to an older version
    if (latest === null || latest === installed) return;
    if (entry.update === 'manual') {
      on.note(`${name} ${latest} is there; "toolherd update" installs it`);
      return;
    }
    try {
      const next = await this.update(entry);
      // npm may choose the same version again, by its own rules: engines, deprecation, a date
      if (next !== undefined && next.version !== installed)
        on.note(`npm installed ${name} ${next.version}; the next start uses it`);
    } catch (error) {
      if (!this.#closing.signal.aborted) on.note(`${name} ${latest} is not used: ${messageOf(error)}`);
    }
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    const done = () => void this.#running.delete(work);
    work.then(done, done);
    return work;
  }
}

function launchKey({ server, command, args, cwd }: PackageEntry): string {
  return hash(JSON.stringify([server, command, args, cwd]));
}
