import { HISTORY_MINUTES } from '../../fleet/history.js';

/** What happened in one minute. `rss`: in units of `RSS_UNIT`; null: not known. */
export interface Minute {
  calls: number;
  failures: number;
  restarts: number;
  rss: number | null;
}

/** Memory is kept in steps of 256 KiB: a process at rest then costs nothing, and a change of up to 16 MB one byte. */
export const RSS_UNIT = 2 ** 18;

const BLOCK_MINUTES = 60;
/** The present one may have one minute only. */
const MOST_BLOCKS = HISTORY_MINUTES / BLOCK_MINUTES + 1;
/** It grows by this much, once in an hour or more. */
const MORE_BYTES = 256;

/** A byte below it stands for so many minutes (and one) in which nothing happened; any other for one minute, by its flags. */
const BUSY = 0x80;
const LONGEST_RUN = 0x7f;
const CALLS = 0x01;
const FAILURES = 0x02;
const RESTARTS = 0x04;
const RSS = 0x08;
const UNKNOWN_RSS = 0x10;

interface Block {
  /** Minutes since 1970. */
  start: number;
  count: number;
  offset: number;
}

/**
 * The minutes of one server, packed: a quiet minute costs a fraction of a byte, a busy one about four. Arrays of numbers
 * would take 46 kB a server. Blocks of an hour can be read alone, so that the oldest can be dropped.
 */
export class PackedMinutes {
  #bytes = new Uint8Array(0);
  #used = 0;
  #blocks: Block[] = [];
  /** Where the last run is, if it can still grow. */
  #run: number | undefined;
  /** Of the last minute of the block; undefined at its beginning. */
  #rss: number | null | undefined;

  /** How many bytes it holds in memory. */
  get bytes(): number {
    return this.#bytes.length;
  }

  /** `at`: later than every minute so far. Minutes that are left out are unknown: the machine slept. */
  append(at: number, minute: Minute): void {
    const last = this.#blocks.at(-1);
    const next = last === undefined ? at : last.start + last.count;
    if (at - next > HISTORY_MINUTES) this.#clear();
    else for (let missing = next; missing < at; missing += 1) this.#add(missing, NOTHING);
    this.#add(at, minute);
  }

  /** Calls `take` with each minute from `first` on. */
  read(first: number, take: (at: number, minute: Minute) => void): void {
    for (const [index, { start, count, offset }] of this.#blocks.entries()) {
      if (start + count <= first) continue;
      const end = this.#blocks[index + 1]?.offset ?? this.#used;
      this.#unpack(start, offset, end, (at, minute) => {
        if (at >= first) take(at, minute);
      });
    }
  }

  #clear(): void {
    this.#used = 0;
    this.#blocks = [];
  }

  #add(at: number, minute: Minute): void {
    let block = this.#blocks.at(-1);
    if (block === undefined || block.count === BLOCK_MINUTES) {
      this.#dropOldest();
      block = { start: at, count: 0, offset: this.#used };
      this.#blocks.push(block);
      this.#run = undefined;
      this.#rss = undefined;
    }
    block.count += 1;
    this.#pack(minute);
  }

  #pack({ calls, failures, restarts, rss }: Minute): void {
    const hasRss = rss !== this.#rss;
    const flags =
      (calls > 0 ? CALLS : 0) |
      (failures > 0 ? FAILURES : 0) |
      (restarts > 0 ? RESTARTS : 0) |
      (hasRss ? (rss === null ? UNKNOWN_RSS : RSS) : 0);
    if (flags === 0) {
      this.#extendRun();
      return;
    }
    this.#run = undefined;
    this.#push(BUSY | flags);
    for (const count of [calls, failures, restarts]) if (count > 0) this.#pushNumber(count);
    if (hasRss && rss !== null) {
      const change = rss - (this.#rss ?? 0);
      this.#pushNumber(change < 0 ? -2 * change - 1 : 2 * change);
    }
    this.#rss = rss;
  }

  #extendRun(): void {
    const run = this.#run;
    if (run !== undefined && this.#bytes[run]! < LONGEST_RUN) {
      this.#bytes[run]! += 1;
      return;
    }
    this.#run = this.#used;
    this.#push(0);
  }

  #unpack(start: number, offset: number, end: number, take: (at: number, minute: Minute) => void): void {
    let [at, place] = [start, offset];
    let rss: number | null = null;
    const number = () => {
      let [value, factor] = [0, 1];
      for (;;) {
        const byte = this.#bytes[place]!;
        place += 1;
        value += (byte & 0x7f) * factor;
        if (byte < 0x80) return value;
        factor *= 128;
      }
    };
    while (place < end) {
      const byte = this.#bytes[place]!;
      place += 1;
      if (byte < BUSY) {
        for (let quiet = 0; quiet <= byte; quiet += 1, at += 1)
          take(at, { calls: 0, failures: 0, restarts: 0, rss });
        continue;
      }
      const [calls, failures, restarts] = [CALLS, FAILURES, RESTARTS].map((flag) =>
        byte & flag ? number() : 0,
      ) as [number, number, number];
      if (byte & UNKNOWN_RSS) rss = null;
      else if (byte & RSS) {
        const change = number();
        rss = (rss ?? 0) + (change % 2 === 0 ? change / 2 : -(change + 1) / 2);
      }
      take(at, { calls, failures, restarts, rss });
      at += 1;
    }
  }

  #pushNumber(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#push(0x80 | (rest % 128));
      rest = Math.floor(rest / 128);
    }
    this.#push(rest);
  }

  #push(byte: number): void {
    if (this.#used === this.#bytes.length) {
      const more = new Uint8Array(this.#used + MORE_BYTES);
      more.set(this.#bytes);
      this.#bytes = more;
    }
    this.#bytes[this.#used] = byte;
    this.#used += 1;
  }

  #dropOldest(): void {
    if (this.#blocks.length < MOST_BLOCKS) return;
    const by = this.#blocks[1]!.offset;
    this.#bytes.copyWithin(0, by, this.#used);
    this.#used -= by;
    this.#blocks = this.#blocks.slice(1).map((block) => ({ ...block, offset: block.offset - by }));
  }
}

const NOTHING: Minute = { calls: 0, failures: 0, restarts: 0, rss: null };
