import type { DataMap } from '../config/parse/document.js';

export type ServerStatus = 'active' | 'deprecated' | 'deleted';

/** One version of a server as the registry tells of it. Its packages and remotes are read when they are needed. */
export interface RegistryServer {
  /** Reverse DNS: `io.github.user/server`. */
  name: string;
  title: string | undefined;
  description: string;
  version: string;
  status: ServerStatus;
  /** Why it has that status, in the words of whoever set it. */
  statusMessage: string | undefined;
  /** Undefined where the registry does not say. */
  isLatest: boolean | undefined;
  publishedAt: string | undefined;
  updatedAt: string | undefined;
  repository: string | undefined;
  website: string | undefined;
  packages: DataMap[];
  remotes: DataMap[];
}

/** What a server is called here unless it is given another name. */
export function shortNameOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
