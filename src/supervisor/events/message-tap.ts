import type { ServerSpec } from '../../config/fields/spec.js';
import type { LinkEvents, LinkLog } from '../../link/link.js';
import { type Clock, isoDateOf } from '../../shared/clock.js';
import type { JsonObject } from '../../shared/json.js';

import { levelOf, type ServerLogLevel } from '../../shared/mcp/log-levels.js';
import { LIST_CHANGED } from '../../shared/mcp/mcp-names.js';

import { withoutEscapes } from '../../shared/text/control-characters.js';
import { TokenBucket } from '../../shared/token-bucket.js';
import type { OpenLink } from '../server/link-actor.js';
import type { EventBus } from './event-bus.js';

/** One message of a server for its log. */
export interface ServerLogMessage {
  key: string;
  incarnation: number;
  level: ServerLogLevel;
  /** Who in the server said it, or how it came: `stderr`, `toolherd`. */
  logger: string | null;
  text: string;
  /** Of an MCP log message: its level there. */
  mcpLevel?: string;
  /** Of one whose data is no text: as it came, redacted. */
  data?: unknown;
  /** The node of the cluster whose replica said it. */
  node?: string | undefined;
}

export interface MessageTapOptions {
  clock: Clock;
  /** Writes a message of toolherd about a server into its log. */
  log(key: string, text: string): void;
  /** Writes a message of the server, redacted already, into its log. */
  logMessage?(message: ServerLogMessage): void;
  /** Takes secrets out of every string of a value. */
  redact<T>(value: T): T;
  /** The same for what this server sent: no value that was declared for it is shown. */
  redactFor<T>(spec: ServerSpec, value: T): T;
}

/** The method of `notification` events about errors. toolherd ignores a server's own notification with this method. */
const SERVER_ERROR = 'toolherd/error';
const LONGEST_TEXT = 8192;
const LONGEST_NAME = 200;
/** No environment variable and no header is longer. */
const LONGEST_SECRET = 2 ** 17;
const LOG_RATE = { perSecond: 2 ** 18, burst: 2 ** 20 };
/** Added to the size of each message, so that empty messages count too. */
const MESSAGE_COST = 64;

/** The level of a line that a server printed, in its log and in events. A line on stdout that is no message is a fault of the server. */
export function printedLevel(source: LinkLog['source']): 'info' | 'warn' {
  return source === 'stdout' ? 'warn' : 'info';
}

/** What the log takes of one incarnation's messages, and how many it did not take since the last one. */
interface LogLimit {
  bucket: TokenBucket;
  dropped: number;
}

/** Taps the notifications of servers: they are written into their logs and emitted to subscribers. */
export class MessageTap {
  readonly #options: MessageTapOptions;
  readonly #events: Pick<EventBus, 'emit'>;
  readonly #incarnationOf: (key: string) => number;

  constructor(
    options: MessageTapOptions,
    events: Pick<EventBus, 'emit'>,
    incarnationOf: (key: string) => number,
  ) {
    this.#options = options;
    this.#events = events;
    this.#incarnationOf = incarnationOf;
  }

  /** Opens links and taps what they report. Their own listener gets everything too. */
  tap(open: OpenLink, key: string): OpenLink {
    return (spec, incarnation, on) => open(spec, incarnation, this.#listenIn(spec, key, incarnation, on));
  }

  /** A line that a server printed: it is in the log already. */
  printed(key: string, incarnation: number, { source, text }: LinkLog): void {
    const logger = source === 'link' ? 'toolherd' : source;
    this.#emitLog({ key, incarnation, level: printedLevel(source), logger, text });
    if (source === 'stdout')
      this.#tell(key, incarnation, SERVER_ERROR, () => ({ cause: 'noise', message: text }));
  }

  /** A message of toolherd about a server. */
  note(key: string, text: string): void {
    const { log, redact } = this.#options;
    log(key, text);
    const incarnation = this.#incarnationOf(key);
    this.#emitLog({ key, incarnation, level: 'warn', logger: 'toolherd', text: redact(text) });
  }

  #listenIn(spec: ServerSpec, key: string, incarnation: number, on: LinkEvents): LinkEvents {
    const limit = { bucket: new TokenBucket(this.#options.clock, LOG_RATE), dropped: 0 };
    return {
      installing: () => on.installing?.(),
      opened: (opened) => on.opened(opened),
      notification: (method, params) => {
        if (method === 'notifications/message') this.#onLog(spec, key, incarnation, params ?? {}, limit);
        else if (!LIST_CHANGED.test(method) && method !== SERVER_ERROR) {
          const shown = () => this.#options.redactFor(spec, params ?? {});
          this.#tell(key, incarnation, method, shown, nodeOf(spec));
        }
        on.notification(method, params);
      },
      ended: (ending) => {
        if (ending.kind === 'error') {
          const { cause, message, fix } = ending;
          const params = { cause, message, ...(fix === undefined ? {} : { fix }) };
          const shown = () => this.#options.redactFor(spec, params);
          this.#tell(key, incarnation, SERVER_ERROR, shown, nodeOf(spec));
        }
        on.ended(ending);
      },
    };
  }

  #onLog(spec: ServerSpec, key: string, incarnation: number, params: JsonObject, limit: LogLimit): void {
    const { level, logger, data } = params;
    const said = typeof data === 'string' ? data : jsonOf(data);
    if (!limit.bucket.take(Math.min(said.length, LONGEST_TEXT) + MESSAGE_COST)) {
      limit.dropped += 1;
      return;
    }
    const { dropped } = limit;
    limit.dropped = 0;
    if (dropped > 0) this.note(key, `${dropped} log messages dropped: more than the log takes`);
    const message: ServerLogMessage = {
      key,
      incarnation,
      level: levelOf(level),
      logger: typeof logger === 'string' ? this.#shown(spec, logger, LONGEST_NAME) : null,
      text: this.#shown(spec, said, LONGEST_TEXT),
      mcpLevel: typeof level === 'string' ? level.slice(0, LONGEST_NAME) : 'info',
      node: nodeOf(spec),
    };
    this.#options.logMessage?.(message);
    const isWhole = typeof data !== 'string' && said.length <= LONGEST_TEXT;
    this.#emitLog(isWhole ? { ...message, data: this.#options.redactFor(spec, data) } : message);
  }

  #tell(key: string, incarnation: number, method: string, params: () => JsonObject, node?: string): void {
    this.#events.emit('notification', key, () => ({
      incarnation,
      method,
      params: params(),
      ...(node === undefined ? {} : { node }),
      at: this.#now(),
    }));
  }

  #emitLog({ key, incarnation, level, logger, text, mcpLevel, data, node }: ServerLogMessage): void {
    this.#events.emit('log', key, () => ({
      incarnation,
      level,
      logger,
      message: text,
      ...(mcpLevel === undefined ? {} : { mcp_level: mcpLevel }),
      ...(data === undefined ? {} : { data }),
      ...(node === undefined ? {} : { node }),
      at: this.#now(),
    }));
  }

  /**
   * Redacted before it is cut: the half of a secret would not be recognised. Of a text that is not read to its end, the
   * end of what was read may be such a half.
   */
  #shown(spec: ServerSpec, said: string, longest: number): string {
    const mostRead = longest + LONGEST_SECRET;
    const clean = this.#options.redactFor(spec, withoutEscapes(said.slice(0, mostRead)));
    if (said.length <= mostRead) return cut(clean, longest, said.length - longest);
    const sure = clean.slice(0, -LONGEST_SECRET).slice(0, longest);
    return cutMark(sure, said.length - sure.length);
  }

  #now(): string {
    return isoDateOf(this.#options.clock);
  }
}

function nodeOf(spec: ServerSpec): string | undefined {
  return spec.transport === 'herd' && spec.isNode ? spec.herd : undefined;
}

function cut(text: string, longest: number, more: number): string {
  return text.length <= longest ? text : cutMark(text.slice(0, longest), more);
}

function cutMark(shown: string, more: number): string {
  return `${shown} … (${more} more)`;
}

function jsonOf(data: unknown): string {
  try {
    return JSON.stringify(data) ?? '';
  } catch {
    return '(nested too deep to be shown)';
  }
}
