// What Linux tells of a process, in bytes. Elsewhere these are undefined, and so is what is measured with them.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

function fieldOf(/** @type {string} */ file, /** @type {string} */ name) {
  try {
    const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(file, 'utf8')) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}

export const rssOf = (/** @type {number} */ pid) => fieldOf(`/proc/${pid}/status`, 'VmRSS');
export const peakOf = (/** @type {number} */ pid) => fieldOf(`/proc/${pid}/status`, 'VmHWM');
/** The memory of a process, shared pages counted in parts: only these can be added up. */
export const pssOf = (/** @type {number} */ pid) => fieldOf(`/proc/${pid}/smaps_rollup`, 'Pss');

/** What a process has used of a core, in milliseconds. Linux counts it in hundredths of a second. */
export function cpuOf(/** @type {number} */ pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13);
    return (Number(user) + Number(system)) * 10;
  } catch {
    return undefined;
  }
}

/** From now on the peak is counted anew. */
export function resetPeak(/** @type {number} */ pid) {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // not Linux, or not allowed: the peak is that of the whole life
  }
}

/** A process and all that it started. */
export function familyOf(/** @type {number} */ pid) {
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

export const sumOf = (
  /** @type {number[]} */ pids,
  /** @type {(pid: number) => number | undefined} */ measure,
) => pids.reduce((/** @type {number} */ sum, /** @type {number} */ pid) => sum + (measure(pid) ?? 0), 0);

/** Processes that were started with this in their environment (`NAME=value`). */
export function processesWith(/** @type {string} */ variable) {
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
