import type { JsonObject } from '../../shared/json.js';
import { hashOf } from './fingerprint.js';
import { type Pin, type PinRecord, versionOf } from './record.js';

/** More tools than any honest server has, and a name longer than a client would take: nothing of that is pinned. */
export const MOST_TOOLS = 10_000;
const LONGEST_NAME = 256;

export interface Comparison {
  /** What is to be kept. */
  record: PinRecord;
  isDirty: boolean;
  /** Tools that differ from their pins, in a version that was not seen before. */
  changed: string[];
  /** Not there when the others were pinned, and not seen before. */
  added: string[];
  /** The definitions that differ from the pins. */
  waiting: PinRecord;
  /** Tools that cannot be pinned. */
  beyond: ReadonlySet<string>;
}

export interface CompareOptions {
  /** Undefined: nothing of this server was ever pinned, so what it offers is. */
  record: PinRecord | undefined;
  tools: readonly JsonObject[];
  /** Whether a tool that came later waits to be accepted. */
  isStrict: boolean;
  /** Whether the list was just read. A cached list must not undo what another process found. */
  isFresh: boolean;
  /** ISO 8601. */
  at: string;
  /** That offers the tools, where it is known: `name@1.2.3`. */
  package?: string | undefined;
  redact(tool: JsonObject): JsonObject;
}

/** Compares what a server offers with what was pinned. A tool that is gone keeps its pin, in case it comes back. */
export function compare({ record, tools, isStrict, isFresh, ...sighting }: CompareOptions): Comparison {
  const kept = new Map<string, Pin>(record);
  const offered = new Set<string>();
  const waiting = new Map<string, Pin>();
  const beyond = new Set<string>();
  const found: Comparison = { record: kept, isDirty: false, changed: [], added: [], waiting, beyond };
  const put = (name: string, pin: Pin | undefined) => {
    if (pin === undefined) kept.delete(name);
    else kept.set(name, pin);
    found.isDirty = true;
  };
  for (const [index, tool] of tools.entries()) {
    const name = String(tool.name);
    // a pin is never dropped to make room: a server could push it out
    const isTooMany = index >= MOST_TOOLS || (kept.size >= MOST_TOOLS && !kept.has(name));
    if (isTooMany || name.length > LONGEST_NAME) {
      beyond.add(name);
      continue;
    }
    offered.add(name);
    const hash = hashOf(tool);
    const { pinned, offered: seen } = kept.get(name) ?? {};
    const version = () => versionOf(tool, { hash, ...sighting });
    if (pinned?.hash === hash) {
      if (seen !== undefined && isFresh) put(name, { pinned });
    } else if (pinned === undefined && (record === undefined || !isStrict)) {
      put(name, { pinned: version() });
      if (record !== undefined) found.added.push(name);
    } else {
      if (seen?.hash !== hash) {
        put(name, { ...(pinned && { pinned }), offered: version() });
        (pinned === undefined ? found.added : found.changed).push(name);
      }
      waiting.set(name, kept.get(name)!);
    }
  }
  if (!isFresh) return found;
  for (const [name, { pinned, offered: seen }] of [...kept]) {
    if (seen !== undefined && !offered.has(name)) put(name, pinned && { pinned });
  }
  return found;
}
