/** An entry whose command may be npx. */
export interface PackageEntry {
  server: string;
  command: string;
  args: readonly string[];
  cwd: string;
  /** The variables that the entry declares. */
  declared: Readonly<Record<string, string>>;
  /** The environment of its process. */
  env(cookie: string): Record<string, string>;
  /** Undefined: as `daemon.runner` says. */
  runner: 'direct' | 'plain' | undefined;
  update: 'auto' | 'manual';
}

/** What is started in place of an entry's command. */
export interface Launch {
  command: string;
  args: readonly string[];
  /** Added in front of PATH. */
  path: readonly string[];
  /** Set unless the entry sets them. */
  env: Readonly<Record<string, string>>;
}

/** A launch that is there, or comes when npm has installed the package. */
export type Launching = { launch: Launch } | { coming: Promise<Launch>; cancel(): void };

export interface LaunchEvents {
  /** What npm writes while it installs. */
  stderr(chunk: Buffer): void;
  /** What toolherd did, for the journal. */
  note(text: string): void;
}
