import type { ConfigProblem } from './results.js';

/** The methods of `Fleet` that change whether servers run. */
export type Order = 'start' | 'stop' | 'restart' | 'reset';

/** Which servers an order is for. */
export type Selection = { servers: string[] } | { all: true };

export interface AuthorizeParams {
  server: string;
  /** Answers after a person has authorised it, instead of with the address for that. */
  wait?: boolean | undefined;
  /** A client that was registered by hand, or the https address of a client metadata document. */
  client_id?: string | undefined;
  client_secret?: string | undefined;
}

export interface AuthorizeReport {
  server: string;
  /** `authorized`: as far as is known. */
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
  /** Servers that exited in time. */
  stopped: string[];
  /** Servers that had to be killed. */
  killed: string[];
  /** How many agents got the reason why the daemon ends; pages do not count. Absent without a daemon. */
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

/** A link to the page of the daemon. The first browser that opens it gets the page, and no other one. */
export interface UiLink {
  url: string;
  /** ISO 8601. */
  expires_at: string;
}
