import { readFileSync } from 'node:fs';
import { type Clock, dateOf } from '../../../shared/clock.js';
import { replaceFile } from '../../../shared/files/replace-file.js';
import { isObject } from '../../../shared/json.js';

/** `mcp2025`: `initialize`, up to 2025-11-25. `mcp2026`: `server/discover`, from 2026-07-28 on. */
export type Era = 'mcp2025' | 'mcp2026';

/** Which era one server speaks, as far as it is known. */
export interface EraMemory {
  recall(): Era | undefined;
  /** The server has answered in this era. */
  keep(era: Era): void;
  /** The era is likely, and found again at once if it is wrong: it is not written to disk. */
  presume(era: Era): void;
  forget(): void;
}

interface KnownEra {
  era: Era;
  at: number;
}

const DAY_MS = 86_400_000;
/** An update may add the new era to a server. It hardly removes it, and then its first answer shows it. */
const GOOD_FOR_MS: Readonly<Record<Era, number>> = { mcp2025: 7 * DAY_MS, mcp2026: 90 * DAY_MS };
/** How the file spells each era. */
const STORED: Readonly<Record<Era, string>> = { mcp2025: 'legacy', mcp2026: 'modern' };
/** Servers that start together are written in one go. */
const WRITE_AFTER_MS = 200;

/**
 * Which era each server speaks, with a date, in a file: so that a server is probed once, not at every start. A file that
 * cannot be read counts as empty; one that cannot be written is skipped.
 */
export class EraCache {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #known: Map<string, KnownEra>;
  readonly #presumed = new Map<string, Era>();
  #timer: unknown;

  constructor(file: string, clock: Clock) {
    this.#file = file;
    this.#clock = clock;
    this.#known = new Map(readKnown(file).filter(([, known]) => this.#isGood(known)));
  }

  /** The memory of the server with this identity. */
  of(key: string): EraMemory {
    return {
      recall: () => {
        const known = this.#known.get(key);
        return known !== undefined && this.#isGood(known) ? known.era : this.#presumed.get(key);
      },
      keep: (era) => {
        this.#presumed.delete(key);
        this.#known.set(key, { era, at: dateOf(this.#clock) });
        this.#write();
      },
      presume: (era) => void this.#presumed.set(key, era),
      forget: () => {
        this.#presumed.delete(key);
        if (this.#known.delete(key)) this.#write();
      },
    };
  }

  /** Writes what is not on disk yet. */
  close(): void {
    if (this.#timer !== undefined) this.#writeNow();
  }

  #isGood({ era, at }: KnownEra): boolean {
    const age = dateOf(this.#clock) - at;
    return age >= 0 && age < GOOD_FOR_MS[era];
  }

  #write(): void {
    this.#timer ??= this.#clock.setTimeout(() => this.#writeNow(), WRITE_AFTER_MS);
  }

  #writeNow(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    const verdicts = Object.fromEntries(
      [...this.#known].map(([key, { era, at }]) => [
        key,
        { era: STORED[era], at: new Date(at).toISOString() },
      ]),
    );
    try {
      replaceFile(this.#file, `${JSON.stringify({ version: 1, verdicts }, undefined, 1)}\n`);
    } catch {
      // it is a cache: the next start probes again
    }
  }
}

function readKnown(file: string): [string, KnownEra][] {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return [];
  }
  const entries = isObject(content) && content.version === 1 ? content.verdicts : undefined;
  if (!isObject(entries)) return [];
  return Object.entries(entries).flatMap(([key, entry]): [string, KnownEra][] => {
    if (!isObject(entry)) return [];
    const era = (['mcp2025', 'mcp2026'] as const).find((one) => STORED[one] === entry.era);
    const at = Date.parse(String(entry.at));
    return era !== undefined && !Number.isNaN(at) ? [[key, { era, at }]] : [];
  });
}
