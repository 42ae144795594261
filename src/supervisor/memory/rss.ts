import { closeSync, openSync, readSync } from 'node:fs';
import { pidsOfSystem } from '../../processes/group.js';
import { parseProcStat } from '../../processes/process-identity.js';

/**
 * Memory of whole process groups, by their leaders; null where the system does not tell. A leader that is gone, or
 * cannot be read as too many files are open, is not in it.
 */
export type MemoryOf = (leaders: readonly number[]) => ReadonlyMap<number, number> | null;

/** How often the list of processes is read, at most. */
const FRESH_MS = 250;
/** After this time a pid may belong to another process. */
const FORGET_MS = 30_000;
/** Of the processes in no group of ours, this many are read again each time. */
const LOOK_AGAIN = 16;

/**
 * Reads the memory of process groups, on Linux. Which group a process is in can only be found by asking every process
 * there is, so the answers are kept: a new pid is asked at once, a known one now and then. (With 650 processes on the
 * machine, 40 of them ours: 17 ms of CPU for a first look, 4 for a later one, where asking all of them took 26.)
 *
 * What several processes share is counted for each of them. A process that left the group is not counted.
 */
export class GroupMemory {
  readonly #now: () => number;
  /** The group of each process, the longest known first. */
  readonly #groups = new Map<number, number>();
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(now: () => number) {
    this.#now = now;
  }

  readonly of: MemoryOf = (leaders) => {
    const steps = this.measure(leaders);
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
    }
  };

  /** The same in steps, each of which reads one file at most. */
  *measure(leaders: readonly number[]): Generator<void, ReadonlyMap<number, number> | null> {
    if (process.platform !== 'linux') return null;
    const sums = new Map<number, number>();
    for (const leader of leaders) {
      const bytes = residentBytes(leader);
      if (bytes > 0) sums.set(leader, bytes);
      yield;
    }
    if (sums.size === 0) return sums;
    yield* this.#look(sums);
    for (const [pid, group] of this.#groups) {
      const sum = sums.get(group);
      if (sum === undefined || pid === group) continue;
      sums.set(group, sum + residentBytes(pid));
      yield;
    }
    return sums;
  }

  /** `sums`: the groups of interest. Their members are asked each time, since they may leave. */
  *#look(sums: ReadonlyMap<number, number>): Generator<void, void> {
    const now = this.#now();
    const sinceMs = now - this.#lookedAt;
    if (sinceMs < FRESH_MS) return;
    this.#lookedAt = now;
    if (sinceMs > FORGET_MS) this.#groups.clear();
    const there = new Set(pidsOfSystem());
    let again = LOOK_AGAIN;
    for (const [pid, group] of this.#groups) {
      if (!there.has(pid) || sums.has(group) || again-- > 0) this.#groups.delete(pid);
    }
    for (const pid of there) {
      if (this.#groups.has(pid)) continue;
      const group = groupOf(pid);
      if (group !== undefined) this.#groups.set(pid, group);
      yield;
    }
  }
}

function groupOf(pid: number): number | undefined {
  return parseProcStat(read(`/proc/${pid}/stat`))?.group;
}

function residentBytes(pid: number): number {
  return Number(read(`/proc/${pid}/statm`).split(' ', 2)[1] ?? 0) * pageBytes();
}

let knownPageBytes: number | undefined;

/** 4 KiB on most machines, 16 or 64 on some: Node does not say, but it counts itself in bytes. */
function pageBytes(): number {
  if (knownPageBytes !== undefined) return knownPageBytes;
  try {
    const pages = Number(read('/proc/self/statm').split(' ', 2)[1]);
    const about = Math.log2(process.memoryUsage.rss() / pages);
    if (Number.isFinite(about)) knownPageBytes = 2 ** Math.round(about);
  } catch {
    // too many files are open to look
  }
  return knownPageBytes ?? 4096;
}

const SMALL = Buffer.alloc(1024);

/** The beginning of a small file; empty when it is not there. Half the price of `readFileSync`, which asks for its size. */
function read(path: string): string {
  try {
    const file = openSync(path, 'r');
    try {
      return SMALL.toString('latin1', 0, readSync(file, SMALL, 0, SMALL.length, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
}
