import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { StdioSpec } from '../../config/spec.js';
import type { Failed } from '../../machines/ending.js';
import type { Exit } from './child.js';

/** Nothing that a second try could change. */
const PERMANENT = new Set([
  'ENOENT',
  'EACCES',
  'ENOEXEC',
  'ENOTDIR',
  'E2BIG',
  'EISDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ERR_INVALID_ARG_VALUE',
]);
/** The machine is full; it may not be so in a moment. */
const FULL = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);

/** Why the process could not be started. Arguments are left out: they may hold what nobody should read. */
export function notStarted(spec: StdioSpec, path: string | undefined, error: Error): Failed {
  const { name, command, cwd } = spec;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const failed = {
    kind: 'error',
    cause: 'spawn',
    permanent: code === undefined || PERMANENT.has(code),
  } as const;
  if (code === 'ENOENT' && !isFolder(cwd)) {
    const fix = `create it, or set 'cwd' of ${name}`;
    return { ...failed, message: `${name}: its working folder ${cwd} does not exist`, fix };
  }
  if (code === 'ENOTDIR' && !isFolder(cwd)) {
    const message = `${name}: its working folder ${cwd} is not a folder`;
    return { ...failed, message, fix: `correct 'cwd' of ${name}` };
  }
  if (code === 'ENOENT' && command.includes('/') && existsSync(resolve(cwd, command))) {
    const message = `${name}: command '${command}' is there, but not the program that is to run it`;
    return { ...failed, message, fix: 'install what its first line names (#!…), or what it was built for' };
  }
  if (code === 'ENOENT' && command.includes('/')) {
    const message = `${name}: command '${command}' does not exist`;
    return { ...failed, message, fix: `install it, or correct 'command' of ${name}` };
  }
  if (code === 'ENOENT') {
    const message = `${name}: command '${command}' was not found; PATH is ${path ?? 'not set'}`;
    return { ...failed, message, fix: `install ${command}, or give its full path` };
  }
  if (code === 'EACCES') {
    const message = `${name}: command '${command}' may not be executed; PATH is ${path ?? 'not set'}`;
    return { ...failed, message, fix: `check the permissions of ${command} and of ${cwd}` };
  }
  if (code !== undefined && FULL.has(code)) {
    const message = `${name}: command '${command}' could not be started: the system refuses more processes or files (${code})`;
    return {
      ...failed,
      shortage: true,
      message,
      fix: 'raise the limits of the daemon (ulimit -n, ulimit -u), or run fewer servers',
    };
  }
  const message = `${name}: command '${command}' could not be started (${code ?? error.name})`;
  return { ...failed, message, fix: `correct 'command', 'args', 'env' or 'cwd' of ${name}` };
}

/** The process ended, and nobody had asked for it. */
export function exitedByItself(name: string, exit: Exit, opened: boolean): Failed {
  const how = exit.signal === null ? `exited with code ${exit.code}` : `was killed by ${exit.signal}`;
  const when = opened ? '' : ' before it had answered initialize';
  return { kind: 'error', cause: 'exit', ...exit, message: `${name}: ${how}${when}`, fix: logs(name) };
}

export function noHandshake(name: string, startTimeoutMs: number): Failed {
  const message = `${name}: no initialize reply in ${startTimeoutMs / 1000} s`;
  return { kind: 'error', cause: 'timeout', message, fix: `${logs(name)}, or raise start_timeout` };
}

export function badHandshake(name: string, why: string): Failed {
  return {
    kind: 'error',
    cause: 'protocol',
    message: `${name}: the handshake failed: ${why}`,
    fix: logs(name),
  };
}

/** It runs, but one of the two pipes is closed: no call can get through any more. */
export function lostPipe(name: string, pipe: 'stdin' | 'stdout'): Failed {
  return {
    kind: 'error',
    cause: 'lost',
    message: `${name}: closed its ${pipe} and did not exit`,
    fix: logs(name),
  };
}

export function notGone(name: string): Failed {
  const message = `${name}: something in its process group survived SIGKILL`;
  return {
    kind: 'error',
    cause: 'close',
    message,
    fix: 'see which process hangs with "ps -eo pid,pgid,stat,wchan,args"',
  };
}

function logs(name: string): string {
  return `see "toolherd logs ${name}"`;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
