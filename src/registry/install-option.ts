import type { Requirement } from './expand-template.js';

/** One way to run or reach a server, as the fields of an entry. */
export interface InstallOption {
  /** The package type or the transport: `npm`, `pypi`, `oci`, `http`, `sse`. */
  kind: string;
  transport: 'stdio' | 'http' | 'sse';
  /** The identifier of the package, or the url. */
  server: string;
  /** `command` and `args`, or `url` and `headers`; and `env`. */
  fields: {
    command?: string;
    args?: string[];
    env?: Record<string, string>;
    url?: string;
    headers?: Record<string, string>;
  };
  needs: Requirement[];
}

/** A way that toolherd does not support, and why. */
export interface UnsupportedOption {
  kind: string;
  server: string;
  refused: string;
}

export function isInstallable(one: InstallOption | UnsupportedOption): one is InstallOption {
  return !('refused' in one);
}
