import type { ServerSpec } from '../../config/fields/spec.js';
import { GOODBYE_MS } from '../../link/remote/remote-transport.js';
import type { ServerSettings } from '../../machines/server-context.js';
import { INSTALL_LIMIT_MS } from '../../packages/limits.js';
import { isNpx } from '../../packages/npx-command.js';

/** The link has the same start timeout and gives the better error; the machine's, which fires later, is a safeguard. */
const MARGIN_MS = 2000;
/** A link may start two processes one after the other (src/link/protocol/negotiation), and each has its time. */
const MOST_STARTS = 2;
const DISCOVER_TIMEOUT_MS = 30_000;

/** How long a start may take: to the end of the handshake. */
export function startTimeoutMs(spec: ServerSpec): number {
  return spec.transport === 'stdio' ? spec.startTimeoutMs : spec.timeoutMs;
}

/** How long a list waits for a start. The start fails first, so that the list has its reason. */
export function listTimeoutMs(spec: ServerSpec): number {
  return startTimeoutMs(spec) + MARGIN_MS;
}

/** An npx entry may wait for the installation of another daemon first, and then for its own. */
function installMs(spec: ServerSpec): number {
  return spec.transport === 'stdio' && isNpx(spec.command) ? 2 * INSTALL_LIMIT_MS : 0;
}

/** What the server machine has to know of a spec. */
export function serverSettings(spec: ServerSpec, idleForMs: () => number): ServerSettings {
  const closeMs = spec.transport === 'stdio' ? spec.stop.closeMs + spec.stop.termMs : GOODBYE_MS;
  return {
    name: spec.name,
    startTimeoutMs:
      startTimeoutMs(spec) * (spec.transport === 'stdio' ? MOST_STARTS : 1) + installMs(spec) + MARGIN_MS,
    discoverTimeoutMs: DISCOVER_TIMEOUT_MS,
    idleTimeoutMs: spec.idleTimeoutMs,
    closeTimeoutMs: closeMs + MARGIN_MS,
    idleForMs,
  };
}
