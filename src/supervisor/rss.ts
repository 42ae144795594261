import { readFileSync } from 'node:fs';
import { pidsOfSystem } from '../link/process/group.js';
import { procStat } from '../link/process/identity.js';

const PAGE_BYTES = 4096;

/** Memory of whole process groups, by their leaders; null where the system does not tell. */
export function groupMemory(leaders: readonly number[]): Map<number, number> | null {
  if (process.platform !== 'linux') return null;
  const wanted = new Set(leaders);
  const sums = new Map<number, number>();
  if (wanted.size === 0) return sums;
  for (const pid of pidsOfSystem()) {
    const group = procStat(pid)?.group;
    if (group !== undefined && wanted.has(group))
      sums.set(group, (sums.get(group) ?? 0) + residentBytes(pid));
  }
  return sums;
}

function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * PAGE_BYTES;
  } catch {
    return 0;
  }
}
