import type { Environment } from '../shared/environment.js';
import type { Profile } from '../shared/mcp/profile.js';
import type { Redactor } from '../shared/secrets/redactor.js';
import type { ServerSpec, Settings } from './fields/spec.js';
import type { Problem } from './parse/problem.js';
import type { LoadEnvironment, Reader } from './variables/expander.js';
import type { VariableUse } from './variables/variables.js';

export interface LoadOptions {
  /** The global config.yaml. It may be missing unless `configRequired`. */
  configFile: string;
  configRequired?: boolean;
  agentFile?: string | undefined;
  /** The folder of the user's config.yaml: an agent file directly in it needs no `allow`. */
  userFolder: string;
  /** The list of allowed files; undefined: trust is not checked (`validate`). */
  trustFile: string | undefined;
  /** Which agent files may be used without being in `trustFile`. Default: as `security.trust` says. */
  exempt?: 'as-set' | 'none';
  environment: Environment;
  userHome: string;
  /** The default of `cluster.node`. Default: of the system. */
  hostName?: string | undefined;
  /** Default `all`. `agent`: problems of the global config do not fail the load; its broken entries are left out. */
  problemsOf?: 'all' | 'agent';
  /** See LoadEnvironment. */
  variables?: LoadEnvironment['variables'];
  /**
   * Default `command`. For a `daemon`, an entry of the global file that cannot be resolved does not fail the load: it
   * becomes a misconfigured server, and the other servers run.
   */
  reader?: Reader | undefined;
}

/** A variable that a file uses. */
export interface FileVariable extends VariableUse {
  file: string;
}

/** A herd as its files describe it. */
export interface LoadedHerd {
  settings: Settings;
  servers: ServerSpec[];
  /** By name. A profile of the agent file replaces a global one of the same name. */
  profiles: ReadonlyMap<string, Profile>;
  warnings: Problem[];
  redactor: Redactor;
  /** Whether there is a global config file. */
  hasConfigFile: boolean;
  /** Every variable that the files use, each once for a file. */
  uses: FileVariable[];
}
