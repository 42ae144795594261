/** 24 hours. */
export const HISTORY_MINUTES = 1440;

export interface HistoryParams {
  /** Default: every server of the view. */
  servers?: readonly string[] | undefined;
  /** How many, up to the present one; default and most: 1440. */
  minutes?: number | undefined;
}

/** One server, minute by minute, the oldest first. The last element is the present minute, as far as it has come. */
export interface ServerHistory {
  name: string;
  agent: string | null;
  /** Calls that began. */
  calls: number[];
  /** Calls that ended with an error. */
  failures: number[];
  restarts: number[];
  /** At the end of each minute, to 256 KiB. Null: not known, or before the daemon ran; 0: nothing runs. */
  rss_bytes: (number | null)[];
}

export interface FleetHistory {
  /** When recording began; ISO 8601. Minutes before it have zeros, and null for memory. */
  since: string;
  /** The beginning of the first minute; ISO 8601. */
  from: string;
  minute_ms: number;
  servers: ServerHistory[];
}
