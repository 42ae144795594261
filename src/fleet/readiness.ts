import type { ConfigProblem } from '../shared/report/config-problem.js';

/** What the daemon writes to a pipe, once: that it serves, or why it cannot. */
export type Readiness = { ready: true; pid: number; servers: number } | { ready: false; error: StartFailure };

export interface StartFailure {
  type: string;
  message: string;
  why?: string | undefined;
  fix?: string | undefined;
  problems?: readonly ConfigProblem[] | undefined;
}

/** Undefined: the daemon ended before it wrote anything. */
export function parseReadiness(text: string): Readiness | undefined {
  return text === '' ? undefined : JSON.parse(text);
}
