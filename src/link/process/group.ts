import { readdirSync } from 'node:fs';
import { procStat } from '../../shared/process-identity.js';

/**
 * Signals to a whole process group. A group id is the pid of its leader and cannot be given to another process while
 * one member is left, so nobody else is hit.
 */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // gone already, or no member is ours to signal: `groupAlive` tells which
  }
}

export function groupAlive(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * False when nothing of the group runs any more. Slower than `groupAlive`, but it sees through dead members that
 * nobody collects, as in a container whose first process does not.
 */
export function groupRuns(group: number): boolean {
  if (!groupAlive(group)) return false;
  if (process.platform !== 'linux') return true;
  const stats = pidsOfSystem().map((pid) => procStat(pid));
  if (stats.every((stat) => stat === undefined)) return true;
  return stats.some((stat) => stat?.group === group && stat.state !== 'Z' && stat.state !== 'X');
}

/** Every pid there is; Linux only. Empty when too many files are open to look. */
export function pidsOfSystem(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}
