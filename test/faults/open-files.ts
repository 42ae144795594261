import { readdirSync, readlinkSync } from 'node:fs';

/**
 * What a process has open: paths, and for what has none its kind (`socket`, `pipe`, …), sorted. Without its logs, which
 * are opened when there is something to say. Linux only.
 */
export function openFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder)
    .flatMap((fd) => {
      try {
        return [readlinkSync(`${folder}/${fd}`).replace(/:\[\d+\]$/, '')];
      } catch {
        // closed meanwhile
        return [];
      }
    })
    .filter((name) => !/\.log$/.test(name))
    .sort();
}
