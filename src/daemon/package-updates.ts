import type { ServerSpec } from '../config/fields/spec.js';
import type {
  OutdatedReport,
  PackageStatus,
  Selection,
  UpdatedPackage,
  UpdateReport,
} from '../fleet/fleet.js';
import type { PackageEntry } from '../packages/entry.js';
import type { Packages, PackageVersions } from '../packages/packages.js';
import type { Environment } from '../shared/environment.js';
import { messageOf } from '../shared/errors.js';
import type { HerdView } from '../supervisor/herd/herd-view.js';
import { packageEntries } from './package-entry.js';

/** The verbs `outdated` and `update`: the versions of the packages of a view's servers. */
export class PackageUpdates {
  readonly #packages: Packages;
  readonly #environment: Environment;

  constructor(packages: Packages, environment: Environment) {
    this.#packages = packages;
    this.#environment = environment;
  }

  async outdated(view: HerdView, names?: readonly string[]): Promise<OutdatedReport> {
    const entries = this.#entries(view, names);
    return { packages: (await this.#packages.versions(entries)).map(toStatus) };
  }

  async update(view: HerdView, selection: Selection, isDryRun = false): Promise<UpdateReport> {
    const entries = this.#entries(view, 'all' in selection ? undefined : selection.servers);
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

  #entries(view: HerdView, names: readonly string[] | undefined): PackageEntry[] {
    const specs = names === undefined ? view.specs : names.map((name) => view.specOf(name));
    return packageEntries(specs, this.#environment);
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
