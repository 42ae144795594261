import { readFileSync } from 'node:fs';
import type { Clock } from '../../../shared/clock.js';
import { isObject } from '../../../shared/json.js';
import { replaceFile } from '../../../shared/replace-file.js';

/** `legacy`: `initialize`, up to 2025-11-25. `modern`: `server/discover`, from 2026-07-28 on. */
export type Era = 'legacy' | 'modern';

/** What is known of one server's era. */
export interface EraMemory {
  recall(): Era | undefined;
  /** It has been seen. */
  keep(era: Era): void;
  /** It is likely, and would be found out again at once: not worth a line on disk. */
  presume(era: Era): void;
  forget(): void;
}

interface Verdict {
  era: Era;
  at: number;
}

const DAY_MS = 86_400_000;
/** A server may learn the new era; it hardly unlearns it, and would be found out by its first answer. */
const GOOD_FOR_MS: Readonly<Record<Era, number>> = { legacy: 7 * DAY_MS, modern: 90 * DAY_MS };
/** Servers that start together are written down together. */
const WRITE_AFTER_MS = 200;

/**
 * Which era each server speaks, dated, in a file: so that a probe is paid for once and not with every start. It is
 * only a cache: one that cannot be read is empty, and one that cannot be written is not.
 */
export class EraCache {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #known: Map<string, Verdict>;
  readonly #presumed = new Map<string, Era>();
  #timer: unknown;

  constructor(file: string, clock: Clock) {
    this.#file = file;
    this.#clock = clock;
    this.#known = new Map(readVerdicts(file).filter(([, verdict]) => this.#isGood(verdict)));
  }

  /** The memory of the server with this identity. */
  of(key: string): EraMemory {
    return {
      recall: () => {
        const verdict = this.#known.get(key);
        return verdict !== undefined && this.#isGood(verdict) ? verdict.era : this.#presumed.get(key);
      },
      keep: (era) => {
        this.#presumed.delete(key);
        this.#known.set(key, { era, at: this.#clock.now() });
        this.#write();
      },
      presume: (era) => void this.#presumed.set(key, era),
      forget: () => {
        this.#presumed.delete(key);
        if (this.#known.delete(key)) this.#write();
      },
    };
  }

  /** What is not on disk yet is written now. */
  close(): void {
    if (this.#timer !== undefined) this.#writeNow();
  }

  #isGood({ era, at }: Verdict): boolean {
    const age = this.#clock.now() - at;
    return age >= 0 && age < GOOD_FOR_MS[era];
  }

  #write(): void {
    this.#timer ??= this.#clock.setTimeout(() => this.#writeNow(), WRITE_AFTER_MS);
  }

  #writeNow(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    const verdicts = Object.fromEntries(
      [...this.#known].map(([key, { era, at }]) => [key, { era, at: new Date(at).toISOString() }]),
    );
    try {
      replaceFile(this.#file, `${JSON.stringify({ version: 1, verdicts }, undefined, 1)}\n`);
    } catch {
      // it is a cache: eras are found out again
    }
  }
}

function readVerdicts(file: string): [string, Verdict][] {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return [];
  }
  const verdicts = isObject(content) && content.version === 1 ? content.verdicts : undefined;
  if (!isObject(verdicts)) return [];
  return Object.entries(verdicts).flatMap(([key, verdict]): [string, Verdict][] => {
    if (!isObject(verdict)) return [];
    const { era, at } = verdict;
    const date = Date.parse(String(at));
    return (era === 'legacy' || era === 'modern') && !Number.isNaN(date) ? [[key, { era, at: date }]] : [];
  });
}
