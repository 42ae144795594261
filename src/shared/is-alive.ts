import { isCode } from './errors.js';

/** Whether there is a process of this number; it may be one of another user, or one that waits to be collected. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isCode(error, 'EPERM');
  }
}
