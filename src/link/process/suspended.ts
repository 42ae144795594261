import { procStat } from '../../shared/process-identity.js';

/** Whether a process was stopped by a signal (SIGSTOP) or a debugger. Only Linux tells; elsewhere nothing is. */
export function isSuspended(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  const state = procStat(pid)?.state;
  return state === 'T' || state === 't';
}
