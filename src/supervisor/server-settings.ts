import type { StdioSpec } from '../config/spec.js';
import type { ServerSettings } from '../machines/server-context.js';

/** The link looks at the start timeout too and knows more of what happened; the machine's is the second net. */
const MARGIN_MS = 2000;
const DISCOVER_TIMEOUT_MS = 30_000;

/** What the server machine has to know of a spec. */
export function serverSettings(spec: StdioSpec, idleForMs: () => number): ServerSettings {
  return {
    name: spec.name,
    startTimeoutMs: spec.startTimeoutMs + MARGIN_MS,
    discoverTimeoutMs: DISCOVER_TIMEOUT_MS,
    idleTimeoutMs: spec.idleTimeoutMs,
    closeTimeoutMs: spec.stop.closeMs + spec.stop.termMs + MARGIN_MS,
    idleForMs,
  };
}
