/**
 * How one incarnation of a server came to its end: the output of the server machine's two final states.
 *
 * What the world does is an ending, not an exception. `disconnected` is an end that was wanted; `error` is
 * every other one. The keeper reads nothing but this to decide whether a fresh incarnation follows.
 */
export interface Disconnected {
  kind: 'disconnected';
  /**
   * `stopped`: by order. `idle`: no call came for `idle_timeout`. `rested`: it was not needed, and others needed its
   * memory. `ended`: the other side closed cleanly.
   */
  reason: 'stopped' | 'idle' | 'rested' | 'ended';
  /** True when the process did not exit when asked and had to be killed. */
  killed: boolean;
  /** Why, where the reason alone does not tell. */
  message?: string;
}

export interface Failed {
  kind: 'error';
  cause: FailureCause;
  /** A sentence for the person who reads it, already redacted. */
  message: string;
  /** What led to it, as far as that is known. Lines after the first are words of the server, redacted, and not to be trusted. */
  why?: string;
  /** The next step, where one is known. */
  fix?: string;
  /** Exit status of the process, where it had one. */
  code?: number | null;
  signal?: string | null;
  /** Trying again cannot help (a missing command): the keeper quarantines at once instead of looping. */
  permanent?: boolean;
  /**
   * A wrong entry would get this answer (HTTP 404, a page in HTML, a certificate that is not trusted, a 401 or 403 that
   * asks for no token), and so does a remote server that is away for a moment: only one that was never connected is
   * taken for misconfigured.
   */
  looksMisconfigured?: boolean;
  /** For how long the remote end asked not to be tried again. */
  retryAfterMs?: number;
  /**
   * The machine has no room for it now (processes, files, memory). Not the server's fault, so it does not count towards
   * quarantine.
   */
  shortage?: boolean;
}

/**
 * `spawn` the process could not be started · `exit` it exited without being asked · `timeout` no handshake in time ·
 * `protocol` the handshake was refused or made no sense · `hung` no answer to ping · `lost` the remote end is gone ·
 * `close` closing failed · `memory` over its budget · `auth` it wants an authorisation we do not have ·
 * `bug` toolherd's own code failed.
 */
export type FailureCause =
  | 'spawn'
  | 'exit'
  | 'timeout'
  | 'protocol'
  | 'hung'
  | 'lost'
  | 'close'
  | 'memory'
  | 'auth'
  | 'bug';

export type Ending = Disconnected | Failed;

export function disconnected(reason: Disconnected['reason'], killed = false): Disconnected {
  return { kind: 'disconnected', reason, killed };
}

export function failed(failure: Omit<Failed, 'kind'>): Failed {
  return { kind: 'error', ...failure };
}

/** What an actor threw, as an ending: a bug of ours is reported like any other failure, and counted like one. */
export function bug(where: string, thrown: unknown): Failed {
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  return failed({ cause: 'bug', message: `${where}: ${said}` });
}
