import type { ConfigProblem } from './results.js';

/** Which servers an order is for. */
export type Selection = { servers: string[] } | { all: true };

export interface AuthorizeParams {
  server: string;
  /** Answers when a person has authorised it, instead of where that is done. */
  wait?: boolean | undefined;
  /** A client that was registered by hand, or the https address of a client metadata document. */
  client_id?: string | undefined;
  client_secret?: string | undefined;
}

export interface AuthorizeReport {
  server: string;
  /** `authorized`: nothing is missing, as far as is known. */
  state: 'waiting' | 'authorized';
  /** What a person has to open; it leads back to the daemon. */
  authorization_url: string | null;
}

export interface LogoutReport {
  server: string;
  /** False when nothing was known. */
  forgotten: boolean;
}

export interface ShutdownReport {
  /** Servers that went by themselves. */
  stopped: string[];
  /** Servers that had to be killed. */
  killed: string[];
  /** How many connections were told why the daemon ends. Absent without a daemon. */
  attached?: number;
}

export interface ReloadReport {
  added: string[];
  removed: string[];
  changed: string[];
  unchanged: string[];
  /** Those of them whose entry cannot be resolved, and why. Absent where there are none. */
  misconfigured?: { server: string; problems: readonly ConfigProblem[] }[];
}
