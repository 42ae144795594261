import type { Environment } from '../shared/environment.js';
import type { Paths } from '../shared/files/paths.js';

/** Whose files are read and changed, and from where. A command has it from its command line, the page from the daemon. */
export interface InstallContext {
  globals: {
    /** The global config, where it is not in its usual place. */
    config: string | undefined;
    /** The agent file, where it is not the nearest one. */
    agent: string | undefined;
    /** For requests to the registry, in milliseconds. */
    timeout: number | undefined;
  };
  paths: Paths;
  environment: Environment;
  userHome: string;
  /** Relative paths begin here. */
  cwd: string;
  output: { note(text: string): void };
}
