/**
 * What the server machine and its link say to each other. The link is the process (or the remote connection) and
 * its session; the machine decides, the link does.
 *
 * Orders are imperative and reports are in the past tense. A link keeps three promises, on which the machine's law
 * "final means the process is gone" rests:
 *
 * 1. `link.exited`, `link.closed` and `link.close_failed` are sent when nothing of this incarnation is left: no
 *    process, no member of its group, no open connection. One of them is sent once, and it is the last report.
 * 2. `close` and `kill` are always answered in the end, also before `open` has got anywhere, also after `link.failed`,
 *    also when the process could not be spawned at all (then at once).
 * 3. It never throws. It reports failures.
 */
import type { CallbackActorLogic } from 'xstate';
import type { Failed } from './restart/ending.js';

/**
 * | order | meaning |
 * |---|---|
 * | `open` | start the process or dial, and shake hands |
 * | `discover` | read the lists (tools, prompts, resources) anew; while one reading runs, one more is enough |
 * | `close` | run the stop sequence: end of input, TERM, KILL |
 * | `kill` | its last step at once, also in the middle of a `close` |
 */
export type LinkOrder = { type: 'open' } | { type: 'discover' } | { type: 'close' } | { type: 'kill' };

export type LinkReport =
  /** The handshake is done; calls may pass. */
  | { type: 'link.opened' }
  /** The lists were read, as far as they could be: one that cannot be read does not make a server unusable. */
  | { type: 'link.discovered' }
  /** The server says that its tools, prompts or resources are not what they were. */
  | { type: 'link.list_changed' }
  /** Exited without being asked, nothing left. Code 0 is a clean end; a remote end that says goodbye counts as 0. */
  | {
      type: 'link.exited';
      code: number | null;
      signal: string | null;
      message: string;
      why?: string;
      fix?: string;
    }
  /** It cannot go on, but something of it may still be there: the machine will say `close`. */
  | { type: 'link.failed'; failure: Omit<Failed, 'kind'> }
  /** No answer to ping. Asking it politely would only wait longer: the machine will say `kill`. */
  | { type: 'link.hung'; message: string }
  /** Closed as ordered, nothing left. */
  | { type: 'link.closed'; killed: boolean }
  /** Nothing left, but not as it should have gone (a session that could not be ended, a refused DELETE). */
  | { type: 'link.close_failed'; message: string };

export interface LinkInput {
  name: string;
  incarnation: number;
  /** As in the settings of its server. */
  host?: unknown;
}

/** Callback logic: it receives orders, and sends reports back. Its disposal must leave nothing behind. */
export type LinkLogic = CallbackActorLogic<LinkOrder, LinkInput>;
