// What Linux tells of a process, in bytes. Elsewhere these are undefined, and so is what is measured with them.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

function fieldOf(file, name) {
  try {
    const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(file, 'utf8')) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}

export const rssOf = (pid) => fieldOf(`/proc/${pid}/status`, 'VmRSS');
export const peakOf = (pid) => fieldOf(`/proc/${pid}/status`, 'VmHWM');
/** The memory of a process, shared pages counted in parts: only these can be added up. */
export const pssOf = (pid) => fieldOf(`/proc/${pid}/smaps_rollup`, 'Pss');

/** From now on the peak is counted anew. */
export function resetPeak(pid) {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // not Linux, or not allowed: the peak is that of the whole life
  }
}

/** A process and all that it started. */
export function familyOf(pid) {
  const children = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // it ended meanwhile
    }
  }
  const family = [pid];
  for (const member of family) family.push(...(children.get(member) ?? []));
  return family;
}

export const sumOf = (pids, measure) => pids.reduce((sum, pid) => sum + (measure(pid) ?? 0), 0);

/** Processes that were started with this in their environment (`NAME=value`). */
export function processesWith(variable) {
  return readdirSync('/proc')
    .filter((name) => {
      if (!/^\d+$/.test(name) || Number(name) === process.pid) return false;
      try {
        return readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(variable);
      } catch {
        return false;
      }
    })
    .map(Number);
}
