import type { ConfigProblem } from '../shared/report/config-problem.js';
import type { ReloadReport } from './fleet.js';

/** A link to the page of the daemon. The first browser that opens it gets the page, and no other one. */
export interface UiLink {
  url: string;
  /** ISO 8601. */
  expires_at: string;
}

/** The answer of `page/config`. */
export interface ConfigDescription {
  /** The global config. */
  file: string;
  problems: readonly ConfigProblem[];
  warnings: readonly ConfigProblem[];
  /** Why the last change of the file was not applied. */
  config_error: string | null;
  /** What a reload would change; null where the file is wrong. */
  plan: ReloadReport | null;
  /** Where each server is written. */
  entries: readonly { server: string; file: string; line: number }[];
  trust: readonly TrustedFile[];
}

/** An agent file: whether the user allowed it, and what it would run. */
export interface TrustedFile {
  file: string;
  status: 'allowed' | 'not allowed' | 'changed' | 'unreadable';
  /** What `page/allow` needs; null where the file cannot be read. */
  digest: string | null;
  /** Why it cannot be read. */
  problem: string | null;
  servers: readonly Record<string, unknown>[];
  /** The words of `toolherd allow`, in lines. */
  would_run: readonly string[];
}
