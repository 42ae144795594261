import type { PackageVersions } from '../fleet/packages.js';
import { shareByKey } from '../shared/async.js';
import { dateOf } from '../shared/clock.js';
import { messageOf } from '../shared/errors.js';
import type { Wanted } from './choose.js';
import type { LaunchEvents, PackageEntry } from './entry.js';
import type { Installer } from './installer.js';
import { newestVersion } from './newest.js';
import type { NpmDeps } from './npm.js';
import { npmSettings } from './npm-settings.js';
import type { Installed, PackageStore, Resolved } from './package-store.js';

export interface VersionsDeps extends NpmDeps {
  store: PackageStore;
  installer: Installer;
  updateCheckMs(): number;
  closing: AbortSignal;
}

/** What is known of the package of an entry. `error`: why npm did not say which version is the latest. */
export interface AskedVersions {
  versions: PackageVersions;
  error?: unknown;
}

/** A check must not slow down the start that it follows, nor the start of a herd. */
const CHECK_DELAY_MS = 2000;

/** The versions of packages in the store: which is the latest, and how it is installed. */
export class Versions {
  readonly #deps: VersionsDeps;
  /** When npm was last asked for a newer version, also where it did not answer; by request. */
  readonly #askedAt = new Map<string, number>();
  readonly #timers = new Set<unknown>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #sharing = shareByKey<string>();

  constructor(deps: VersionsDeps) {
    this.#deps = deps;
  }

  /** Asks npm for the latest version, if the package is installed. `launched`: the version of the last start. */
  async ask(entry: PackageEntry, wanted: Wanted, launched: string | undefined): Promise<AskedVersions> {
    const { store } = this.#deps;
    const { server, update } = entry;
    const { name, raw: requested } = wanted.command;
    const installed = store.find(wanted)?.version ?? null;
    const version = launched ?? installed;
    const about = { server, package: name, requested, update, version, installed };
    const unknown = { ...about, latest: null, behind: false, refused: null };
    if (version === null) return { versions: unknown };
    try {
      const latest = await this.#latest(wanted);
      const refused = this.#remember(wanted, { checkedAt: dateOf(this.#deps.clock), latest })?.refused;
      const why = refused?.version === latest ? refused.why : null;
      return { versions: { ...about, latest, behind: latest !== version, refused: why } };
    } catch (error) {
      return { versions: unknown, error };
    }
  }

  /**
   * Installs the newest version, which the next start uses. `latest`: what npm said is the newest; if npm does not install
   * that one, the reason is kept. Rejects with a PackageError.
   */
  async update(wanted: Wanted, latest: string, on?: LaunchEvents): Promise<Installed> {
    const { installer, closing } = this.#deps;
    try {
      const installed = await installer.join({ ...wanted, isUpdate: true }, on).done;
      if (installed.version !== latest) this.#refuse(wanted, latest, otherChosen(installed.version, latest));
      return installed;
    } catch (error) {
      if (!closing.aborted) this.#refuse(wanted, latest, messageOf(error));
      throw error;
    }
  }

  /** Why npm did not install this version when it was last asked to. */
  refusalOf(wanted: Wanted, version: string): string | null {
    const refused = this.#deps.store.resolvedFor(wanted)?.refused;
    return refused?.version === version ? refused.why : null;
  }

  /** Asks in the background, at most once in `daemon.update_check`, and installs what is newer. */
  checkSoon(entry: PackageEntry, wanted: Wanted, on: LaunchEvents): void {
    const { clock, store, updateCheckMs } = this.#deps;
    const limitMs = updateCheckMs();
    const key = store.keyOf(wanted);
    const resolved = store.resolvedFor(wanted);
    const isWaiting = entry.update === 'auto' && isNewerKnown(resolved);
    const checkedAt = Math.max(
      (isWaiting ? undefined : resolved?.checkedAt) ?? 0,
      this.#askedAt.get(key) ?? 0,
    );
    if (limitMs === 0 || wanted.command.kind === 'exact' || dateOf(clock) - checkedAt < limitMs) return;
    this.#askedAt.set(key, dateOf(clock));
    const timer = clock.setTimeout(() => {
      this.#timers.delete(timer);
      const check = this.#check(entry, wanted, on).catch(() => undefined);
      this.#running.add(check);
      void check.then(() => this.#running.delete(check));
    }, CHECK_DELAY_MS);
    this.#timers.add(timer);
  }

  /** After `closing` was aborted. */
  async close(): Promise<void> {
    for (const timer of this.#timers) this.#deps.clock.clearTimeout(timer);
    await Promise.allSettled(this.#running);
  }

  async #check(entry: PackageEntry, wanted: Wanted, on: LaunchEvents): Promise<void> {
    const { versions } = await this.ask(entry, wanted, undefined);
    const { package: name, installed, latest } = versions;
    // a tag may also have moved back to an older version
    if (latest === null || latest === installed) return;
    if (entry.update === 'manual') {
      on.note(`${name} ${latest} is there; "toolherd update" installs it`);
      return;
    }
    const next = await this.update(wanted, latest).catch(() => undefined);
    if (this.#deps.closing.aborted) return;
    if (next !== undefined && next.version !== installed)
      on.note(`npm installed ${name} ${next.version}; the next start uses it`);
    const refused = this.refusalOf(wanted, latest);
    if (refused !== null) on.note(`${name} ${latest} is not used: ${refused}`);
  }

  /** Entries with the same package that ask at the same time share the answer. */
  #latest({ command, influence, npm }: Wanted): Promise<string> {
    const key = JSON.stringify([command.raw, influence, npm.program, npmSettings(npm.env(''))]);
    return this.#sharing(key, () => newestVersion(this.#deps, npm, command, this.#deps.closing));
  }

  #refuse(wanted: Wanted, version: string, why: string): void {
    this.#remember(wanted, { latest: version, refused: { version, why } });
  }

  #remember(wanted: Wanted, more: Partial<Resolved>): Resolved | undefined {
    const { store } = this.#deps;
    const resolved = store.resolvedFor(wanted);
    if (resolved === undefined) return undefined;
    const known = { ...resolved, ...more };
    try {
      store.remember(wanted, known);
    } catch {
      // it is asked again after the next start
    }
    return known;
  }
}

/** One that `outdated` found, for example, is not waited for; one that npm did not install is not tried at each start. */
function isNewerKnown(resolved: Resolved | undefined): boolean {
  if (resolved?.latest === undefined) return false;
  const { latest, version, refused } = resolved;
  return latest !== version && latest !== refused?.version;
}

function otherChosen(chosen: string, latest: string): string {
  return `npm chose ${chosen}: a setting of npm (before, min-release-age) or the engines of ${latest} exclude ${latest}`;
}
