import { isInScope } from '../fleet/agents.js';
import { callMatcher } from '../fleet/call-matcher.js';
import type { AuditPage, AuditParams, CallEvent, ToolFigures, ViewScope } from '../fleet/fleet.js';
import { linesBackwards } from '../log/read-backwards.js';

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 1000;
/** What one search reads at most: some 35,000 records. It takes about 0.2 s, in steps of 128 KiB. */
const MOST_CHARACTERS = 16 * 2 ** 20;
/** Of the slowest and of the failing tools. */
const FIGURES = 20;

/**
 * Searches the audit files, the newest record first. The first page reads on to the limit, for the figures; a later page
 * (`before`) ends when it is full. `scope`: of the connection that asks.
 */
export async function readAudit(
  file: string,
  params: AuditParams = {},
  scope?: ViewScope,
): Promise<AuditPage> {
  const { limit = DEFAULT_LIMIT, before, since } = params;
  const most = Math.max(1, Math.min(limit, MAX_LIMIT));
  const sinceMs = since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since);
  const isMatch = callMatcher(params);
  const matches = (call: CallEvent) => (scope === undefined || isInScope(scope, call)) && isMatch(call);
  const search = new Search(most);
  let read = 0;
  for await (const lines of linesBackwards(file, before)) {
    for (const { text, place } of lines) {
      const isOver = read >= MOST_CHARACTERS || (before !== undefined && search.isFull);
      if (isOver) return search.page(false);
      read += text.length;
      const call = parseRecord(text);
      if (call === undefined) continue;
      if (Date.parse(call.at) < sinceMs) return search.page(true);
      search.add(call, place, matches(call));
    }
  }
  return search.page(true);
}

/** What a search has found so far. */
class Search {
  readonly #most: number;
  readonly #calls: CallEvent[] = [];
  readonly #tools = new Map<string, { server: string; tool: string; failures: number; times: number[] }>();
  #records = 0;
  #from: string | null = null;
  /** Of the oldest call on the page. */
  #place: string | null = null;
  /** Of the oldest record that was read. */
  #lastPlace: string | null = null;
  #hasMore = false;

  constructor(most: number) {
    this.#most = most;
  }

  get isFull(): boolean {
    return this.#hasMore;
  }

  add(call: CallEvent, place: string, isWanted: boolean): void {
    this.#records += 1;
    this.#from = call.at;
    this.#lastPlace = place;
    if (!isWanted) return;
    this.#count(call);
    if (this.#calls.length === this.#most) {
      this.#hasMore = true;
      return;
    }
    this.#calls.push(call);
    this.#place = place;
  }

  page(isComplete: boolean): AuditPage {
    const figures = [...this.#tools.values()].map(figuresOf);
    const top = (by: (one: ToolFigures) => number) =>
      figures.toSorted((a, b) => by(b) - by(a)).slice(0, FIGURES);
    return {
      calls: this.#calls,
      next: this.#hasMore ? this.#place : isComplete ? null : this.#lastPlace,
      searched: { from: this.#from, records: this.#records, complete: isComplete },
      slowest: top(({ p99_ms }) => p99_ms),
      failing: top(({ failures }) => failures).filter(({ failures }) => failures > 0),
    };
  }

  #count({ server, tool, ok, duration_ms }: CallEvent): void {
    if (tool === null) return;
    const key = JSON.stringify([server, tool]);
    const counted = this.#tools.get(key) ?? { server, tool, failures: 0, times: [] };
    counted.times.push(duration_ms);
    if (!ok) counted.failures += 1;
    this.#tools.set(key, counted);
  }
}

function figuresOf({
  server,
  tool,
  failures,
  times,
}: {
  server: string;
  tool: string;
  failures: number;
  times: number[];
}): ToolFigures {
  const sorted = times.sort((a, b) => a - b);
  const quantile = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { server, tool, calls: sorted.length, failures, p50_ms: quantile(0.5), p99_ms: quantile(0.99) };
}

/** Undefined for a line that was cut, or is no record. */
function parseRecord(line: string): CallEvent | undefined {
  try {
    const record = JSON.parse(line) as CallEvent;
    return record.topic === 'call' && !Number.isNaN(Date.parse(record.at)) ? record : undefined;
  } catch {
    return undefined;
  }
}
