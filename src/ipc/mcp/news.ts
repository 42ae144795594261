import type { Clock } from '../clock.js';
import type { CatalogEvent, Fleet, FleetEvent, LogEvent } from '../fleet.js';
import type { Peer } from '../peer.js';
import { isAtLeast, knownLevel, type McpLogLevel } from './log-levels.js';

export interface NewsOptions {
  fleet: Pick<Fleet, 'subscribe'>;
  peer: Pick<Peer, 'notify'>;
  clock: Clock;
  /** Whose news this connection sees. */
  isShown(server: string): boolean;
}

/** A herd that starts changes its lists a dozen times; a client is told once. */
const QUIET_MS = 100;

/** What an MCP client is told without having asked: lists that changed, and what servers log. */
export class McpNews {
  readonly #options: NewsOptions;
  readonly #changed = new Set<CatalogEvent['list']>();
  #level: McpLogLevel | undefined;
  #timer: unknown;
  #endCatalog: (() => void) | undefined;
  #endLog: (() => void) | undefined;

  constructor(options: NewsOptions) {
    this.#options = options;
  }

  beginLists(): void {
    this.#endCatalog ??= this.#listen('catalog', ({ list }) => this.#listChanged(list));
  }

  /** From which level on log messages are wanted. */
  beginLog(level: McpLogLevel): void {
    this.#level = level;
    this.#endLog ??= this.#listen('log', (event) => this.#logged(event));
  }

  end(): void {
    this.#endCatalog?.();
    this.#endLog?.();
    this.#options.clock.clearTimeout(this.#timer);
  }

  #listen<T extends 'catalog' | 'log'>(
    topic: T,
    hear: (event: Extract<FleetEvent, { topic: T }>) => void,
  ): () => void {
    return this.#options.fleet.subscribe([topic], (event) => {
      if (event.topic === topic && this.#options.isShown(event.server))
        hear(event as Extract<FleetEvent, { topic: T }>);
    });
  }

  #listChanged(list: CatalogEvent['list']): void {
    if (this.#changed.size === 0) {
      this.#timer = this.#options.clock.setTimeout(() => this.#tellLists(), QUIET_MS);
    }
    this.#changed.add(list);
  }

  #tellLists(): void {
    for (const list of this.#changed) this.#options.peer.notify(`notifications/${list}/list_changed`);
    this.#changed.clear();
  }

  #logged({ server, logger, message, mcp_level }: LogEvent): void {
    // what came over stderr is for the log files
    if (mcp_level === undefined || this.#level === undefined) return;
    const level = knownLevel(mcp_level);
    if (!isAtLeast(level, this.#level)) return;
    const name = logger === null ? server : `${server}/${logger}`;
    this.#options.peer.notify('notifications/message', { level, logger: name, data: message });
  }
}
