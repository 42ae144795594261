import type { ServerSpec } from '../../../config/fields/spec.js';
import type { Clock } from '../../../shared/clock.js';
import { isCode, messageOf } from '../../../shared/errors.js';
import type { JsonObject } from '../../../shared/json.js';
import type { McpLevel } from '../../../shared/mcp/log-levels.js';
import type { Call } from '../../calls/call.js';
import type { StrayCounts } from '../../calls/reply-router.js';
import { Session, type SessionOptions, type Wire } from '../../calls/session.js';
import type { LinkEvents, LinkLog } from '../../link.js';
import { Mcp2025Driver } from '../mcp-2025/driver.js';
import { Mcp2026Driver } from '../mcp-2026/driver.js';
import { InputRequired } from '../mcp-2026/input-required.js';
import { ALL_PERMITTED, type Permissions, rootSource } from '../server-requests.js';
import type { EraMemory } from './era-cache.js';
import { Negotiation } from './negotiation.js';

/** The dependencies of a link, over any transport. */
export interface ProtocolDeps {
  clock: Clock;
  clientInfo: { name: string; version: string };
  log(line: LinkLog): void;
  /** Removes declared values from a text. The config does not say which of them are secret, so none is shown. */
  redact(text: string): string;
  incarnation?: number | undefined;
  /** Which requests of servers may be passed to agents. Default: all. */
  permissions?: Permissions | undefined;
  /** The lowest level of log messages that the server should send now. */
  logLevel?: (() => McpLevel | undefined) | undefined;
  /** The remembered era of this server. Absent: every start probes. */
  era?: EraMemory | undefined;
}

export interface ProtocolPorts {
  spec: ServerSpec;
  deps: ProtocolDeps;
  /** Ready when the handshake is done. */
  wire: Wire;
  /** A message that belongs to no call. */
  other: SessionOptions['other'];
  notification: LinkEvents['notification'];
}

/** The two that share one wire to a server: the session sends calls, the driver everything else. */
export interface ProtocolStack {
  session: Session;
  driver: Negotiation;
}

/** Nothing is written before `driver.open`. */
export function createProtocolStack({ spec, deps, wire, other, notification }: ProtocolPorts): ProtocolStack {
  const { name, config, requestTimeoutMs: timeoutMs, maxTimeoutMs, maxInFlight } = spec;
  const roots = rootSource(spec);
  const { clock, clientInfo, incarnation, permissions = ALL_PERMITTED, era: memory } = deps;
  const logLevel = () => deps.logLevel?.();
  const session: Session = new Session({
    ...{ name, incarnation, clock, wire, timeoutMs, maxTimeoutMs, maxInFlight, other },
    fault: (error) =>
      deps.log({
        source: 'link',
        text: deps.redact(`a caller's own code failed: ${messageOf(error)}`),
      }),
    strayed: (kind, count) => {
      const text = strayText(kind, count);
      if (text !== undefined) deps.log({ source: 'link', text });
    },
    get inputRequired() {
      return driver.era === 'mcp2026' ? answer : undefined;
    },
  });
  const input = new InputRequired({ name, roots, permissions, session }, clock);
  const answer = (call: Call, result: JsonObject) => input.answer(call, result);
  const write = (line: string) => wire.write(line);
  const ports = { name, config, clock, clientInfo, logLevel, write };
  const driver = new Negotiation({
    ...{ name, clock, memory },
    mcp2025: () => new Mcp2025Driver({ ...ports, requests: { roots, permissions, session } }),
    mcp2026: () =>
      new Mcp2026Driver({
        ...{ ...ports, roots, permissions },
        useEnvelope: (envelope) => session.useEnvelope(envelope),
        notify: (method, params) => notification(method, params),
      }),
  });
  return { session, driver };
}

const STRAYS: Partial<Record<keyof StrayCounts, string>> = {
  replies: 'a reply to no call in flight (late, repeated or forged)',
  progress: 'progress that no call in flight asked for',
};

/**
 * The log line for a message that reached no call. Only the first, the tenth, the hundredth and so on is logged, so that
 * no server can fill the log. Broken and oversized lines are logged elsewhere, with their text.
 */
function strayText(kind: keyof StrayCounts, count: number): string | undefined {
  const what = STRAYS[kind];
  if (what === undefined || !Number.isInteger(Math.log10(count))) return undefined;
  return `${what} reached no call; ${count} so far`;
}

/** An upgrade may remove the files of a running daemon, and modules that only some servers need are loaded late. */
const FILES_MOVED =
  "what it needs cannot be loaded: the daemon's files were moved or replaced after it had started; start it anew with 'toolherd up --replace'";

export function handshakeFailureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (isCode(error, 'MODULE_NOT_FOUND')) return FILES_MOVED;
  // an error of the SDK's schemas is a page of JSON
  return 'issues' in error ? 'the reply to initialize has the wrong shape' : error.message;
}
