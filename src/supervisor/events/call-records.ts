import type { CallEvent, Caller } from '../../fleet/fleet.js';
import { type Clock, dateOf } from '../../shared/clock.js';
import { type CallFacts, callEvent, type EndedCall, factsOf } from './call-event.js';
import { CleanNames } from './clean-names.js';

export interface CallRecordOptions {
  clock: Clock;
  /** Whose herd it is, where it is one agent's alone. */
  agent?: string | undefined;
  /** The caller behind a name; default: the program that has the herd in its own process. */
  callerOf?(caller: string): Caller | undefined;
  /** A request of this caller has ended. Called after its reply. */
  recorded?(caller: string): void;
  /** Writes it down: the JSON of a `CallEvent`. */
  audit?(record: string): void;
  /** Logs bugs. */
  warn?(text: string): void;
  redact<T>(value: T): T;
}

export interface CallListeners {
  /** A listener wants calls as they end. */
  hasListeners(): boolean;
  emit(server: string, key: string | undefined, describe: () => CallEvent): void;
}

interface Ended {
  server: string;
  /** The key of the server; undefined where no server took the request. */
  key: string | undefined;
  from: Caller;
  facts: CallFacts;
  atMs: number;
}

/** Without listeners, records are written after this time, or when there are this many: docs/PERFORMANCE.md says why. */
const BATCH_MS = 20;
const BATCH = 64;

/**
 * Writes a record of every request to the herd when it has ended. The text is made after the reply was written, so that no
 * reply waits for it.
 */
export class CallRecords {
  readonly #options: CallRecordOptions;
  readonly #listeners: CallListeners;
  readonly #own: Caller;
  readonly #names: CleanNames;
  #ended: Ended[] = [];
  #isDue = false;
  #timer: NodeJS.Timeout | undefined;
  /** The date of the last record: at full load several calls end in one millisecond. */
  #atMs = Number.NaN;
  #at = '';

  constructor(options: CallRecordOptions, listeners: CallListeners) {
    this.#options = options;
    this.#listeners = listeners;
    this.#names = new CleanNames((text) => options.redact(text));
    this.#own = { via: 'library', client: null, agent: options.agent ?? null };
  }

  add(server: string, key: string | undefined, call: EndedCall): void {
    const hasListeners = this.#listeners.hasListeners();
    if (!hasListeners && this.#options.audit === undefined) return;
    try {
      const atMs = dateOf(this.#options.clock);
      this.#ended.push({ server, key, from: this.#callerOf(call), facts: factsOf(call), atMs });
    } catch (error) {
      this.#fault(server, error);
      return;
    }
    if (this.#isDue) return;
    if (hasListeners || this.#ended.length >= BATCH) {
      this.#isDue = true;
      setImmediate(this.flush);
    } else this.#timer ??= setTimeout(this.flush, BATCH_MS).unref();
  }

  /** Writes the records of all requests that have ended. Call it before the process exits. */
  readonly flush = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isDue = false;
    const ended = this.#ended;
    this.#ended = [];
    this.#names.tick(this.#options.clock.now());
    for (const one of ended) {
      try {
        this.#record(one);
      } catch (error) {
        this.#fault(one.server, error);
      }
    }
  };

  /** It runs in no request, so an error here would end the process: it is logged. */
  #fault(server: string, error: unknown): void {
    // its message may have something in it that was asked or answered
    const { name } = error as Error;
    this.#options.warn?.(`a fault in toolherd itself: a call of ${server} was not recorded: ${name}`);
  }

  #record({ server, key, from, facts, atMs }: Ended): void {
    const event = callEvent(server, facts, { from, at: this.#dateOf(atMs), names: this.#names });
    this.#options.audit?.(JSON.stringify(event));
    if (facts.request.caller !== undefined) this.#options.recorded?.(facts.request.caller);
    this.#listeners.emit(server, key, () => event);
  }

  /** The caller at this moment: a client can change its name. */
  #callerOf({ request: { caller } }: EndedCall): Caller {
    const known = caller === undefined ? undefined : this.#options.callerOf?.(caller);
    if (known === undefined) return this.#own;
    const { via, client, agent, profile } = known;
    return { via, client, agent, profile };
  }

  #dateOf(atMs: number): string {
    const ms = Math.floor(atMs);
    if (ms !== this.#atMs) {
      this.#atMs = ms;
      this.#at = new Date(ms).toISOString();
    }
    return this.#at;
  }
}
