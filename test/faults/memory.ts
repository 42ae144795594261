import { readFileSync } from 'node:fs';

/** The most memory a process ever held, in bytes: no peak between two looks is missed. Linux only. */
export const peakOf = (pid: number) => kibibytes(pid, 'VmHWM') * 1024;

function kibibytes(pid: number, field: string): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]);
}
