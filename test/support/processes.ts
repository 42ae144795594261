import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Linux shows its processes here, with their environment. Other systems have only `ps`, which does not show it. */
const HAS_PROC = existsSync('/proc/self/stat');

/** Checks that this system does not allow; a run prints them at its start. */
export const LEFT_OUT: readonly string[] = HAS_PROC
  ? []
  : ['servers that outlive their daemon are not found by their cookie, because there is no /proc'];

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
