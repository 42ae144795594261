import { join } from 'node:path';
import type { ServerSpec, Settings, StdioSpec } from '../config/fields/spec.js';
import type {
  OutdatedReport,
  PackageStatus,
  Selection,
  UpdatedPackage,
  UpdateReport,
} from '../fleet/fleet.js';
import { packageFailure } from '../link/failures/process-endings.js';
import { redactingArguments } from '../link/failures/shown-command.js';
import { childEnvironment } from '../link/stdio/environment.js';
import type { LaunchEvents, Launching, PackageEntry } from '../packages/entry.js';
import { isNpx } from '../packages/npx-command.js';
import { Packages, type Runner } from '../packages/packages.js';
import type { ProcessTable } from '../processes/table.js';
import type { Clock } from '../shared/clock.js';
import type { Environment } from '../shared/environment.js';
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
  /** Removes the secrets of a server from a text. */
  redact(spec: ServerSpec, text: string): string;
  /** Writes into the log of a server. */
  log(server: string, text: string): void;
}

type Problem = Pick<PackageStatus, 'problem' | 'why' | 'fix'>;
const NO_PROBLEM: Problem = { problem: null, why: null, fix: null };

/** A herd that starts has better things to do. */
const PRUNE_AFTER_MS = 60_000;
const PRUNE_EACH_MS = 24 * 60 * 60 * 1000;

/**
 * Status and pins ask how each npx entry runs. To find out takes some thirty operations on files, and the answer changes with
 * a start, an installation or the settings. A program other than toolherd may change the files too: this is how late that
 * is seen.
 */
const RUNNER_FRESH_MS = 10_000;

interface RunnerFound {
  runner: Runner | undefined;
  settings: Settings;
  changes: number;
  at: number;
}

/** The packages of a herd's npx entries: how they are started, and their versions. */
export class HerdPackages {
  readonly #options: HerdPackagesOptions;
  readonly #packages: Packages;
  /** How each entry runs, and what that was found by. */
  readonly #runners = new WeakMap<ServerSpec, RunnerFound>();
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
    if (spec.transport !== 'stdio' || !isNpx(spec.command)) return undefined;
    const { clock, settings } = this.#options;
    const basis = { settings: settings(), changes: this.#packages.changes };
    const known = this.#runners.get(spec);
    const isSame = known?.settings === basis.settings && known.changes === basis.changes;
    if (isSame && clock.now() - known.at < RUNNER_FRESH_MS) return known.runner;
    const runner = this.#packages.describe(this.#entryOf(spec));
    this.#runners.set(spec, { ...basis, at: clock.now(), runner });
    return runner;
  }

  /** The package that a server runs, where it is known: `name@1.2.3`. */
  packageOf(spec: ServerSpec): string | undefined {
    const found = this.runnerOf(spec)?.package;
    return found && `${found.name}@${found.version}`;
  }

  async outdated(view: HerdView, names?: readonly string[]): Promise<OutdatedReport> {
    const asked = specsOf(view, names).map((spec) => this.#statusOf(spec));
    return { packages: (await Promise.all(asked)).filter((status) => status !== undefined) };
  }

  async update(view: HerdView, selection: Selection, isDryRun = false): Promise<UpdateReport> {
    const updated = specsOf(view, 'all' in selection ? undefined : selection.servers).map(async (spec) => {
      const status = await this.#statusOf(spec);
      return status && this.#updateOne(view, spec, status, isDryRun);
    });
    return { packages: (await Promise.all(updated)).filter((one) => one !== undefined) };
  }

  /** Undefined where the version cannot change. */
  async #statusOf(spec: StdioSpec): Promise<PackageStatus | undefined> {
    const asked = await this.#packages.versions(this.#entryOf(spec));
    if (asked === undefined) return undefined;
    const problem = asked.error === undefined ? NO_PROBLEM : this.#problemOf(asked.error, spec);
    return { ...asked.versions, ...problem };
  }

  async #updateOne(
    view: HerdView,
    spec: StdioSpec,
    status: PackageStatus,
    isDryRun: boolean,
  ): Promise<UpdatedPackage> {
    const { latest, version } = status;
    const done = (result: UpdatedPackage['result'], more: Partial<UpdatedPackage> = {}) => ({
      ...{ ...status, result, restarted: false },
      ...more,
    });
    if (version === null) return done('not_installed');
    if (latest === null) return done('failed');
    if (!status.behind) return done('current');
    if (isDryRun) return done('would_update');
    let { installed, refused } = status;
    try {
      if (installed !== latest) {
        const updated = await this.#packages.update(this.#entryOf(spec), latest);
        if (updated !== undefined) ({ version: installed, refused } = updated);
      }
    } catch (error) {
      const problem = this.#problemOf(error, spec);
      for (const line of `${problem.problem}\n${problem.why ?? ''}`.trim().split('\n'))
        this.#options.log(spec.name, line);
      return done('failed', problem);
    }
    if (installed === version) return done('kept', { installed, refused });
    const restarted = await restartIfUnused(view, spec);
    return done('updated', { installed, behind: installed !== latest, refused, restarted });
  }

  #problemOf(error: unknown, spec: StdioSpec): Problem {
    const redact = redactingArguments(spec, (text) => this.#options.redact(spec, text));
    const { message: problem, why = null, fix = null } = packageFailure(error, spec, redact);
    return { problem, why, fix };
  }

  #pruneIn(ms: number): void {
    const timer = this.#options.clock.setTimeout(() => {
      const entries = npxSpecs(this.#options.specs()).map((spec) => this.#entryOf(spec));
      // what is left is removed another day
      void this.#packages.prune(entries).catch(() => undefined);
      this.#pruneIn(PRUNE_EACH_MS);
    }, ms);
    // a script with a herd that does nothing may end
    if (timer instanceof Object && 'unref' in timer) (timer as NodeJS.Timeout).unref();
    this.#pruneTimer = timer;
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

/** Of the servers of these names, or of all: those that may run a package. */
function specsOf(view: HerdView, names?: readonly string[]): StdioSpec[] {
  return npxSpecs(names === undefined ? view.specs : names.map((name) => view.specOf(name)));
}

function npxSpecs(specs: readonly ServerSpec[]): StdioSpec[] {
  return specs
    .filter((spec) => spec.transport === 'stdio')
    .filter(({ enabled, command }) => enabled && isNpx(command));
}
