import type { Ending } from '../machines/ending.js';
import type { JsonObject } from '../shared/json.js';
import type { StopStep } from './process/stop-sequence.js';
import type { ListMethod } from './protocol/list.js';
import type { Session } from './session/session.js';

/** What the server said of itself in the handshake, as it came. */
export interface Opened {
  protocolVersion: string;
  serverInfo: JsonObject;
  capabilities: JsonObject;
  instructions: string | undefined;
}

/**
 * What a link reports, each of it never before `open…` has returned:
 * `opened` at most once · `notification` any number of times · `ended` exactly once, as the last of all, when the
 * process and everything it started is gone.
 */
export interface LinkEvents {
  opened(opened: Opened): void;
  notification(method: string, params: JsonObject | undefined): void;
  ended(ending: Ending): void;
}

/** One line for the server's log. `stderr`: its own words; `stdout`: what it printed that is no message. */
export interface LinkLog {
  source: 'stderr' | 'stdout' | 'link';
  text: string;
}

/** Rejects where the server could not be told; nobody need care. */
export type Unwatch = () => Promise<void>;

/** The outside of one incarnation: its process or connection, and its session. */
export interface Link {
  /** Calls may be put in at any time; they are sent when the handshake is done. */
  readonly session: Session;
  /** The leader of the process group; empty when it has ended or could not be started. */
  readonly pids: readonly number[];
  /** Resolves when the server answers; rejects with MCPTimeoutError or MCPConnectionError. */
  ping(timeoutMs: number): Promise<void>;
  /**
   * Every item of every page, nothing dropped from it; empty when the server has no such capability. `onTtl` is told
   * before, where the server says for how long that holds.
   */
  list(method: ListMethod, onTtl?: (ttlMs: number) => void): Promise<JsonObject[]>;
  /**
   * From now on `notification` also tells when this resource changes. Resolves when the server knows, with the way to
   * end it; rejects where the server refuses.
   */
  watch(uri: string): Promise<Unwatch>;
  /**
   * Ends it: no new calls, then the ladder from this rung on. Calls in flight may still be answered until the process
   * has gone. A later order can only climb. `ended` tells the result.
   */
  close(from?: StopStep): void;
}
