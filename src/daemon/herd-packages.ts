import { join } from 'node:path';
import type { ServerSpec, Settings, StdioSpec } from '../config/fields/spec.js';
import type {
  OutdatedReport,
  PackageStatus,
  Selection,
  UpdatedPackage,
  UpdateReport,
} from '../fleet/fleet.js';
import { childEnvironment } from '../link/stdio/environment.js';
import type { LaunchEvents, Launching, PackageEntry } from '../packages/entry.js';
import { Packages, type PackageVersions, type Runner } from '../packages/packages.js';
import type { ProcessTable } from '../processes/table.js';
import type { Clock } from '../shared/clock.js';
import type { Environment } from '../shared/environment.js';
import { messageOf } from '../shared/errors.js';
import type { HerdView } from '../supervisor/herd/herd-view.js';

export interface HerdPackagesOptions {
  cacheFolder: string;
  table: ProcessTable;
  clock: Clock;
  /** The daemon's own. */
  environment: Environment;
  settings(): Settings;
  /** Of every server of the herd. */
  specs(): readonly ServerSpec[];
}

/** A herd that starts has better things to do. */
const PRUNE_AFTER_MS = 60_000;
const PRUNE_EACH_MS = 24 * 60 * 60 * 1000;

/** The packages of a herd's npx entries: how they are started, and their versions. */
export class HerdPackages {
  readonly #options: HerdPackagesOptions;
  readonly #packages: Packages;
  #pruneTimer: unknown;

  constructor(options: HerdPackagesOptions) {
    this.#options = options;
    const { cacheFolder, table, clock, settings } = options;
    this.#packages = new Packages({
      folder: join(cacheFolder, 'packages'),
      table,
      clock,
      settings: () => {
        const { daemon, security } = settings();
        const { runner, updateCheckMs } = daemon;
        return { runner, updateCheckMs, runsScripts: security.installScripts === 'allow' };
      },
    });
  }

  /** From now on packages that no config has used for long are removed, once a day. */
  begin(): void {
    this.#pruneIn(PRUNE_AFTER_MS);
  }

  async close(): Promise<void> {
    this.#options.clock.clearTimeout(this.#pruneTimer);
    await this.#packages.close();
  }

  launch(spec: StdioSpec, on: LaunchEvents): Launching | undefined {
    return this.#packages.launch(this.#entryOf(spec), on);
  }

  /** Undefined for a server that has nothing to do with npx. */
  runnerOf(spec: ServerSpec): Runner | undefined {
    return spec.transport === 'stdio' ? this.#packages.describe(this.#entryOf(spec)) : undefined;
  }

  /** The package that a server runs, where it is known: `name@1.2.3`. */
  packageOf(spec: ServerSpec): string | undefined {
    const found = this.runnerOf(spec)?.package;
    return found && `${found.name}@${found.version}`;
  }

  async outdated(view: HerdView, names?: readonly string[]): Promise<OutdatedReport> {
    const entries = this.#entriesOf(view, names);
    return { packages: (await this.#packages.versions(entries)).map(toStatus) };
  }

  async update(view: HerdView, selection: Selection, isDryRun = false): Promise<UpdateReport> {
    const entries = this.#entriesOf(view, 'all' in selection ? undefined : selection.servers);
    const asked = (await this.#packages.versions(entries)).map(toStatus);
    const packages: UpdatedPackage[] = [];
    for (const status of asked) {
      const entry = entries.find(({ server }) => server === status.server);
      packages.push(await this.#updateOne(view, entry!, status, isDryRun));
    }
    return { packages };
  }

  async #updateOne(
    view: HerdView,
    entry: PackageEntry,
    status: PackageStatus,
    isDryRun: boolean,
  ): Promise<UpdatedPackage> {
    if (status.latest === null) return { ...status, result: 'failed', restarted: false };
    if (!status.behind) return { ...status, result: 'current', restarted: false };
    if (isDryRun) return { ...status, result: 'would_update', restarted: false };
    let installed = status.installed;
    try {
      if (installed !== status.latest) installed = (await this.#packages.update(entry))?.version ?? installed;
    } catch (error) {
      return { ...status, result: 'failed', restarted: false, problem: messageOf(error) };
    }
    if (installed === status.version) return { ...status, installed, result: 'current', restarted: false };
    const restarted = await restartIfUnused(view, view.specOf(entry.server));
    return { ...status, installed, behind: false, result: 'updated', restarted };
  }

  #pruneIn(ms: number): void {
    const timer = this.#options.clock.setTimeout(() => {
      // what is left is removed another day
      void this.#packages.prune(this.#entries(this.#options.specs())).catch(() => undefined);
      this.#pruneIn(PRUNE_EACH_MS);
    }, ms);
    // a script with a herd that does nothing may end
    if (timer instanceof Object && 'unref' in timer) (timer as NodeJS.Timeout).unref();
    this.#pruneTimer = timer;
  }

  #entriesOf(view: HerdView, names: readonly string[] | undefined): PackageEntry[] {
    return this.#entries(names === undefined ? view.specs : names.map((name) => view.specOf(name)));
  }

  #entries(specs: readonly ServerSpec[]): PackageEntry[] {
    return specs.flatMap((spec) => (spec.transport === 'stdio' && spec.enabled ? [this.#entryOf(spec)] : []));
  }

  #entryOf(spec: StdioSpec): PackageEntry {
    const { name, command, args, cwd, env, runner, update = 'auto' } = spec;
    return {
      ...{ server: name, command, args, cwd, declared: env, runner, update },
      env: (cookie) => childEnvironment(this.#options.environment, spec, cookie),
    };
  }
}

/** A server that each agent has for itself, and a transient one, use the new version with their next process. */
async function restartIfUnused(view: HerdView, spec: ServerSpec): Promise<boolean> {
  const [status] = view.status([spec.name]);
  const isOneProcess = spec.sharing === 'shared' && status?.lifecycle === 'singleton';
  if (!isOneProcess || status.pids.length === 0 || status.in_flight > 0) return false;
  await view.order('restart', { servers: [spec.name] });
  return true;
}

function toStatus(versions: PackageVersions): PackageStatus {
  const { version, latest } = versions;
  return { ...versions, behind: latest !== null && latest !== version };
}
