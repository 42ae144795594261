/** The package of a server that toolherd installed for an npx entry, where its version may change. */
export interface PackageStatus {
  server: string;
  package: string;
  /** As the entry has it: `name`, `name@latest`, `name@^1.2`. */
  requested: string;
  update: 'auto' | 'manual';
  /** Of the last start; where there was none, the one that is installed. */
  version: string | null;
  /** The one that the next start uses; null where none is. */
  installed: string | null;
  /** What npm would install now; null where npm did not say. */
  latest: string | null;
  behind: boolean;
  /** Why npm did not say which version is the latest, or did not install it. */
  problem: string | null;
}

export interface OutdatedReport {
  packages: PackageStatus[];
}

export interface UpdatedPackage extends PackageStatus {
  result: 'current' | 'updated' | 'would_update' | 'failed';
  /** False: its next start uses the version. */
  restarted: boolean;
}

export interface UpdateReport {
  packages: UpdatedPackage[];
}
