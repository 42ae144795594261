import type { CallEvent } from './events.js';

export interface AuditParams {
  server?: string | undefined;
  tool?: string | undefined;
  /** The name of a connection. */
  caller?: string | undefined;
  /** The name that a client gives. */
  client?: string | undefined;
  /** The path of an agent's file. */
  agent?: string | undefined;
  profile?: string | undefined;
  outcome?: 'ok' | 'failed' | undefined;
  /** A part of any of its names, of its error or of its request id; in any case of letters. */
  text?: string | undefined;
  /** Nothing older than this; ISO 8601. */
  since?: string | undefined;
  /** How many calls at most, the newest; default 200, never more than 1000. */
  limit?: number | undefined;
  /** `next` of an earlier answer: calls before those. */
  before?: string | undefined;
}

/** The calls of one tool among the records that were searched. */
export interface ToolFigures {
  server: string;
  tool: string;
  calls: number;
  failures: number;
  p50_ms: number;
  p99_ms: number;
}

export interface AuditPage {
  /** The newest first. */
  calls: CallEvent[];
  /** For `before`, where there may be older ones; null where there are none. */
  next: string | null;
  searched: {
    /** The oldest record that was read; ISO 8601; null: there was none. */
    from: string | null;
    records: number;
    /** False: the search ended at its limit, and older records were not read. */
    complete: boolean;
  };
  /** By their 99th percentile, among the calls that match. */
  slowest: ToolFigures[];
  /** By their failures. Tools without one are not in it. */
  failing: ToolFigures[];
}
