import type { DataMap } from '../config/parse/document.js';

export type ServerStatus = 'active' | 'deprecated' | 'deleted';

/** One version of a server. Its packages and remotes are parsed when they are needed. */
export interface RegistryServer {
  /** Reverse DNS: `io.github.user/server`. */
  name: string;
  title: string | undefined;
  description: string;
  version: string;
  status: ServerStatus;
  /** The reason for the status, from the registry. */
  statusMessage: string | undefined;
  /** Undefined when the registry does not say. */
  isLatest: boolean | undefined;
  publishedAt: string | undefined;
  updatedAt: string | undefined;
  repository: string | undefined;
  website: string | undefined;
  packages: DataMap[];
  remotes: DataMap[];
}

/** The default name of a server in our files. */
export function shortNameOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
