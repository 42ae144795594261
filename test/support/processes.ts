import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Linux shows its processes here, with their environment. Other systems have only `ps`, which does not show it. */
export const HAS_PROC = existsSync('/proc/self/stat');

/** Checks that this system does not allow; a run prints them at its start. */
export const LEFT_OUT: readonly string[] = HAS_PROC
  ? []
  : [
      'servers that outlive their daemon (their cookie cannot be read)',
      'files that the daemon leaves open',
      "the peak of the daemon's memory (only its memory at the end)",
    ];

export interface Found {
  pid: number;
  words: string;
}

/** Whether a process runs: a zombie, which only waits to be collected, does not. */
export function isAlive(pid: number): boolean {
  return !['Z', 'X', undefined].includes(stateOf(pid));
}

/** A letter, as `ps` shows it. */
export function stateOf(pid: number): string | undefined {
  if (!HAS_PROC) return ps(['state'], pid)[0]?.charAt(0);
  const text = readProc(pid, 'stat');
  return text === '' ? undefined : text.charAt(text.lastIndexOf(')') + 2);
}

/** Every process that a daemon is responsible for: those with its cookie, and its watchdog. */
export function processesOf(daemonId: string): Found[] {
  return allProcesses().filter(
    ({ pid, words }) =>
      readProc(pid, 'environ').includes(`TOOLHERD_COOKIE=${daemonId}:`) ||
      (words.includes('toolherd-watchdog') && words.includes(daemonId)),
  );
}

export function watchdogOf(daemonId: string): number | undefined {
  return processesOf(daemonId).find(({ words }) => words.includes('toolherd-watchdog'))?.pid;
}

/** Everything that runs on this machine, with the words of its command line. */
export function allProcesses(): Found[] {
  if (!HAS_PROC)
    return ps(['pid', 'state', 'command']).flatMap((line) => {
      const [, pid, state, words] = /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
      return pid === undefined || state?.startsWith('Z') ? [] : [{ pid: Number(pid), words: words ?? '' }];
    });
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && isAlive(pid))
    .map((pid) => ({ pid, words: readProc(pid, 'cmdline').replaceAll('\0', ' ').trim() }));
}

/** 0 for a process that is gone or dead. */
export function parentOf(pid: number): number {
  if (!HAS_PROC) return Number(ps(['ppid'], pid)[0] ?? 0);
  const [state, parent] = readProc(pid, 'stat').split(') ').at(-1)?.split(' ') ?? [];
  return state === undefined || state === 'Z' ? 0 : Number(parent);
}

/** Empty where the process is gone, belongs to another user, or the system has no /proc. */
export function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

/**
 * What a process has open: paths, and for what has none its kind (`socket`, `pipe`, …), sorted. Without its logs, which
 * are opened at the first line. Empty where there is no /proc.
 */
export function openFiles(pid: number): string[] {
  if (!HAS_PROC) return [];
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

/** The most memory that a process ever held, in bytes. Where there is no /proc: what it holds now. */
export function peakOf(pid: number): number {
  if (!HAS_PROC) return Number(ps(['rss'], pid)[0]) * 1024;
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readProc(pid, 'status'))?.[1]) * 1024;
}

/** `ps` fails for a process that is gone. */
function ps(columns: readonly string[], pid?: number): string[] {
  const which = pid === undefined ? ['-A'] : ['-p', String(pid)];
  const shown = columns.flatMap((column) => ['-o', `${column}=`]);
  try {
    const text = execFileSync('ps', [...which, ...shown], { encoding: 'utf8', stdio: 'pipe' });
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => line.trim());
  } catch {
    return [];
  }
}

export function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // gone already
  }
}
