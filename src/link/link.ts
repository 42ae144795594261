import type { Ending } from '../machines/restart/ending.js';
import type { StopStep } from '../processes/stop-sequence.js';
import type { JsonObject } from '../shared/json.js';
import type { Session } from './calls/session.js';
import type { ListMethod } from './protocol/list.js';

/** What the server said in the handshake, unchanged. */
export interface Opened {
  protocolVersion: string;
  serverInfo: JsonObject;
  capabilities: JsonObject;
  instructions: string | undefined;
}

/**
 * The events of a link, none before `openLink` has returned:
 * `opened` at most once · `notification` any number of times · `ended` exactly once, as the last, when the process and
 * everything it started is gone.
 */
export interface LinkEvents {
  /** npm installs the server's package first, which may take minutes. */
  installing?(): void;
  opened(opened: Opened): void;
  notification(method: string, params: JsonObject | undefined): void;
  ended(ending: Ending): void;
}

/** One line for the server's log. `stderr`: its stderr; `stdout`: lines that are no messages; `link`: of toolherd. */
export interface LinkLog {
  source: 'stderr' | 'stdout' | 'link';
  text: string;
}

/** Ends a watch. Rejects where the server could not be told; callers may ignore that. */
export type Unwatch = () => Promise<void>;

/** One incarnation of a server: its process or connection, and its session. */
export interface Link {
  /** Takes calls at any time; they are sent when the handshake is done. */
  readonly session: Session;
  /** The leader of the process group; empty when it has exited or could not be started. */
  readonly pids: readonly number[];
  /** Resolves when the server answers; rejects with MCPTimeoutError or MCPConnectionError. */
  ping(timeoutMs: number): Promise<void>;
  /**
   * Every item of every page, with all its fields; empty when the server lacks the capability. `onTtl` is called first,
   * where the server says how long the list is valid.
   */
  list(method: ListMethod, onTtl?: (ttlMs: number) => void): Promise<JsonObject[]>;
  /**
   * From now on `notification` also reports changes of this resource. Resolves when the server has agreed, with a
   * function that ends the watch; rejects where the server refuses.
   */
  watch(uri: string): Promise<Unwatch>;
  /** The level of log messages that the server should send may have changed. */
  renewLogLevel(): void;
  /**
   * Ends the link: no new calls, then the stop sequence from this step on. Calls in flight may still be answered until the
   * process is gone. A later call can only skip to a later step. `ended` reports the result.
   */
  close(from?: StopStep): void;
}
