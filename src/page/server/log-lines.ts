import type { LogEntry, LogEvent } from '../../fleet/fleet.js';
import { isAtLeast, type LogLevel } from '../../shared/mcp/log-levels.js';

/** `output`: what the server wrote to stderr or stdout. `mcp`: its log messages. `toolherd`: notes about it. */
export type LogKind = 'output' | 'mcp' | 'toolherd';

export interface LogLine {
  /** Rises by one with each line, so that a line keeps its place on the page. */
  id: number;
  time: string;
  level: LogLevel;
  kind: LogKind;
  source: string | null;
  text: string;
}

export interface LogFilter {
  level: LogLevel;
  /** Every word of it is in the line, in any case of letters. */
  search: string;
  kinds: ReadonlySet<LogKind>;
}

/** More would make the page slow; older lines are in the log file. */
export const MAX_LINES = 2000;

export function kindOf(source: string | null): LogKind {
  if (source === 'stderr' || source === 'stdout') return 'output';
  return source === 'toolherd' ? 'toolherd' : 'mcp';
}

/** As the log file has it: a message of MCP that names no logger comes from `mcp`. */
export function entryOfEvent({ at, level, server, logger, message, mcp_level }: LogEvent): LogEntry {
  return {
    time: at,
    level,
    server,
    source: logger ?? (mcp_level === undefined ? null : 'mcp'),
    text: message,
  };
}

/** The lines of one server: those that were read, then those that arrive. Bounded. */
export class LogBuffer {
  #lines: LogLine[] = [];
  #next = 0;
  /** Lines that arrived before the log was read: the answer has most of them as well. */
  #early: LogEntry[] | null = [];

  /** Whether the answer is there: before that nothing is known of the log. */
  get isRead(): boolean {
    return this.#early === null;
  }

  get lines(): readonly LogLine[] {
    return this.#lines;
  }

  /** The answer of `fleet/logs`. */
  fill(entries: readonly LogEntry[]): void {
    const known = new Set(entries.map(keyOf));
    const early = (this.#early ?? []).filter((entry) => !known.has(keyOf(entry)));
    this.#early = null;
    this.#lines = [];
    this.#append([...entries, ...early]);
  }

  add(entries: readonly LogEntry[]): void {
    if (this.#early === null) this.#append(entries);
    else this.#early = [...this.#early, ...entries].slice(-MAX_LINES);
  }

  #append(entries: readonly LogEntry[]): void {
    const added = entries.map(({ time, level, source, text }) => {
      return { id: this.#next++, time, level, kind: kindOf(source), source, text };
    });
    this.#lines = [...this.#lines, ...added].slice(-MAX_LINES);
  }
}

export function filterLines(lines: readonly LogLine[], { level, search, kinds }: LogFilter): LogLine[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return lines.filter((line) => {
    if (!kinds.has(line.kind) || !isAtLeast(line.level, level)) return false;
    if (words.length === 0) return true;
    const text = `${line.source ?? ''} ${line.text}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function keyOf({ time, level, text }: LogEntry): string {
  return `${time} ${level} ${text}`;
}
