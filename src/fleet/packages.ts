/** The versions of the package of an npx server, where its version may change. */
export interface PackageVersions {
  server: string;
  package: string;
  /** As the entry has it: `name`, `name@latest`, `name@^1.2`. */
  requested: string;
  update: 'auto' | 'manual';
  /** Of the last start; where there was none, the one that is installed. */
  version: string | null;
  /** The one that the next start uses; null where none is installed: then the next start installs the latest. */
  installed: string | null;
  /** Null where npm did not say, or was not asked because no version is installed. */
  latest: string | null;
  /** `version` is another one than `latest`. */
  behind: boolean;
  /** Why npm did not install `latest` when toolherd last tried; null where it did, or was not tried. */
  refused: string | null;
}

export interface PackageStatus extends PackageVersions {
  /** That npm did not say which version is the latest, or did not install it. */
  problem: string | null;
  /** The cause of the problem, with the last lines of npm. */
  why: string | null;
  fix: string | null;
}

export interface OutdatedReport {
  packages: PackageStatus[];
}

export interface UpdatedPackage extends PackageStatus {
  /** `kept`: npm chose the version that was installed already; `refused` says why. */
  result: 'current' | 'updated' | 'kept' | 'not_installed' | 'would_update' | 'failed';
  /** False: its next start uses the version. */
  restarted: boolean;
}

export interface UpdateReport {
  packages: UpdatedPackage[];
}
