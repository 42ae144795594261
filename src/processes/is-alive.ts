import { isCode } from '../shared/errors.js';

/** Whether a process has this pid, or is in this group (negative). It may belong to another user, or be a zombie. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isCode(error, 'EPERM');
  }
}
