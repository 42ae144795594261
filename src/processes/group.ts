import { readdirSync } from 'node:fs';
import { isAlive } from './is-alive.js';
import { procStat } from './process-identity.js';

/**
 * Signals a whole process group. Its id is the pid of its leader, which the system does not reuse while a member is left,
 * so no other process gets the signal.
 */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // gone already, or not permitted: `groupAlive` tells which
  }
}

export function groupAlive(group: number): boolean {
  return isAlive(-group);
}

/**
 * False when no process of the group runs any more. Slower than `groupAlive`, but it ignores zombies that are not reaped,
 * as in a container whose first process does not reap.
 */
export function groupRuns(group: number): boolean {
  if (!groupAlive(group)) return false;
  if (process.platform !== 'linux') return true;
  const stats = pidsOfSystem().map((pid) => procStat(pid));
  if (stats.every((stat) => stat === undefined)) return true;
  return stats.some((stat) => stat?.group === group && stat.state !== 'Z' && stat.state !== 'X');
}

/** Every pid of the system; Linux only. Empty when too many files are open to read /proc. */
export function pidsOfSystem(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}
