import { readFileSync, statSync } from 'node:fs';
import type { JournalEntry } from '../../fleet/fleet.js';
import type { Clock } from '../../shared/clock.js';
import { replaceFile } from '../../shared/files/replace-file.js';
import { isObject } from '../../shared/json.js';

/** Keeps the journals of servers for the next daemon. */
export interface JournalStore {
  /** What was written down about a server before. */
  recall(id: string): JournalEntry[];
  /** `entries`: all of its journal, the newest last. The store reads them when it writes. */
  keep(id: string, entries: readonly JournalEntry[]): void;
}

const KEPT_ENTRIES = 50;
const KEPT_SERVERS = 200;
const LONGEST_CAUSE = 1000;
/** More than all that is kept takes. */
const MAX_BYTES = 32 * 2 ** 20;
/** A start makes six entries within a second: they are written in one go. */
const WRITE_AFTER_MS = 1000;
/** Between two writes: a herd changes all the time if one of its servers does. */
const LEAST_PAUSE_MS = 10_000;

/**
 * The last entries of every journal in one private file, so that `why` knows after a restart of the daemon what happened
 * before. A file that cannot be read counts as empty; one that cannot be written is skipped.
 */
export class JournalFile implements JournalStore {
  readonly #file: string;
  readonly #clock: Clock;
  /** The server that changed last is the last one. */
  readonly #journals: Map<string, readonly JournalEntry[]>;
  /** The JSON of each journal as it was written last. Most journals do not change between two writes. */
  readonly #texts = new Map<string, string>();
  #timer: unknown;
  #writtenAt = Number.NEGATIVE_INFINITY;

  constructor(file: string, clock: Clock) {
    this.#file = file;
    this.#clock = clock;
    this.#journals = new Map(readJournals(file));
  }

  recall(id: string): JournalEntry[] {
    return shortened(this.#journals.get(id) ?? []).map((entry) => ({ ...entry, earlier: true }));
  }

  keep(id: string, entries: readonly JournalEntry[]): void {
    this.#journals.delete(id);
    this.#journals.set(id, entries);
    this.#texts.delete(id);
    const [oldest] = this.#journals.keys();
    if (this.#journals.size > KEPT_SERVERS && oldest !== undefined) {
      this.#journals.delete(oldest);
      this.#texts.delete(oldest);
    }
    this.#timer ??= this.#clock.setTimeout(() => this.#write(), this.#delayMs);
  }

  /** Writes what is not on disk yet. */
  close(): void {
    if (this.#timer !== undefined) this.#write();
  }

  get #delayMs(): number {
    return Math.max(WRITE_AFTER_MS, this.#writtenAt + LEAST_PAUSE_MS - this.#clock.now());
  }

  #write(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writtenAt = this.#clock.now();
    const journals = [...this.#journals].map(([id, entries]) => this.#textOf(id, entries));
    try {
      replaceFile(this.#file, `{"version":1,"journals":{${journals.join(',')}}}\n`);
    } catch {
      // "why" then knows less
    }
  }

  #textOf(id: string, entries: readonly JournalEntry[]): string {
    const known = this.#texts.get(id);
    if (known !== undefined) return known;
    const text = `${JSON.stringify(id)}:${JSON.stringify(shortened(entries))}`;
    this.#texts.set(id, text);
    return text;
  }
}

function shortened(entries: readonly JournalEntry[]): JournalEntry[] {
  return entries
    .slice(-KEPT_ENTRIES)
    .map((entry) => ({ ...entry, cause: entry.cause.slice(0, LONGEST_CAUSE) }));
}

function readJournals(file: string): [string, JournalEntry[]][] {
  try {
    if (statSync(file).size > MAX_BYTES) return [];
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!isObject(content) || content.version !== 1 || !isObject(content.journals)) return [];
    return Object.entries(content.journals).map(([id, entries]) => [
      id,
      Array.isArray(entries) ? entries.filter(isEntry) : [],
    ]);
  } catch {
    return [];
  }
}

function isEntry(entry: unknown): entry is JournalEntry {
  return (
    isObject(entry) &&
    !Number.isNaN(Date.parse(String(entry.at))) &&
    Number.isInteger(entry.incarnation) &&
    (entry.chart === 'server' || entry.chart === 'keeper') &&
    ['from', 'to', 'event', 'cause'].every((field) => typeof entry[field] === 'string') &&
    (entry.kind === undefined || typeof entry.kind === 'string')
  );
}
