import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { Launch } from './entry.js';
import { upward } from './project.js';

/** The numbers with which programs for Linux and macOS begin. */
const NATIVE = new Set(['7f454c46', 'cafebabe', 'feedface', 'feedfacf', 'cefaedfe', 'cffaedfe']);

/** Without a shell, as the kernel starts it. npx runs a file that the kernel cannot start as a script of the shell. */
export function launchFile(
  file: string,
  args: readonly string[],
  path: readonly string[],
  env: Launch['env'],
): Launch {
  if (startsWithoutShell(file)) return { command: file, args, path, env };
  return { command: '/bin/sh', args: [file, ...args], path, env };
}

/** The folders that npx adds to PATH for a working folder. */
export function binFolders(cwd: string): string[] {
  return [...upward(cwd)].map((folder) => join(folder, 'node_modules', '.bin'));
}

/** Its first line names an interpreter, or it is machine code. */
function startsWithoutShell(file: string): boolean {
  const head = Buffer.alloc(4);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, head, 0, 4, 0);
  } finally {
    closeSync(descriptor);
  }
  return head.toString('latin1', 0, 2) === '#!' || NATIVE.has(head.toString('hex'));
}
