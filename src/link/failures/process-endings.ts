import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { StdioSpec } from '../../config/fields/spec.js';
import type { Failed } from '../../machines/restart/ending.js';
import { PackageError } from '../../packages/errors.js';
import { codeOf, messageOf } from '../../shared/errors.js';
import { seconds } from '../../shared/text/seconds.js';
import { shellWord } from '../../shared/text/shell-word.js';
import type { Exit } from '../stdio/child.js';
import { type FailureLines, failureLines } from './failure-lines.js';
import { type KnownCause, knownCause, notInPath } from './known-causes.js';
import { shownCommand } from './shown-command.js';

/** Errors that a second try cannot change. */
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
/** The machine is out of processes, files or memory, perhaps only for a moment. */
const FULL = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);

/** Why the process could not be started. Arguments are left out: they may hold secrets. */
export function notStarted(
  spec: StdioSpec,
  searched: string | undefined,
  error: Error,
  redact: EndingContext['redact'],
): Failed {
  const { name } = spec;
  const [command, cwd] = [redact(spec.command), redact(spec.cwd)];
  const path = searched === undefined ? undefined : redact(searched);
  const code = codeOf(error);
  const failed = {
    kind: 'error',
    cause: 'spawn',
    permanent: code === undefined || PERMANENT.has(code),
  } as const;
  if (code === 'ENOENT' && !isFolder(spec.cwd)) {
    const fix = `create it, or set 'cwd' of ${name}`;
    return { ...failed, message: `${name}: its working folder ${cwd} does not exist`, fix };
  }
  if (code === 'ENOTDIR' && !isFolder(spec.cwd)) {
    const message = `${name}: its working folder ${cwd} is not a folder`;
    return { ...failed, message, fix: `correct 'cwd' of ${name}` };
  }
  if (code === 'ENOENT' && spec.command.includes('/') && existsSync(resolve(spec.cwd, spec.command))) {
    const message = `${name}: command '${command}' is there, but not the program that is to run it`;
    return { ...failed, message, fix: 'install what its first line names (#!…), or what it was built for' };
  }
  if (code === 'ENOENT' && spec.command.includes('/')) {
    const message = `${name}: command '${command}' does not exist`;
    return { ...failed, message, fix: `install it, or correct 'command' of ${name}` };
  }
  if (code === 'ENOENT') {
    const message = `${name}: command '${command}' was not found; PATH is ${path ?? 'not set'}`;
    const ownPath = `install ${command}, or correct PATH in 'env' of ${name}`;
    return { ...failed, message, fix: 'PATH' in spec.env ? ownPath : notInPath(command).fix };
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

/** What an ending needs besides the fact: which server it was, and what it wrote last. */
export interface EndingContext {
  spec: StdioSpec;
  redact(text: string): string;
  /** The handshake was done. */
  opened: boolean;
  /** How the first process ended, where it exited on `server/discover` and a second was started. */
  firstExit: Exit | undefined;
  /** Where the last lines come from: stderr, or stdout lines that are no messages. */
  stream: 'stderr' | 'stdout';
  lines: FailureLines;
  /** The cause that the lines show, where it is a common one. */
  cause: KnownCause | undefined;
}

/** npm could not install the package of an npx entry, or the package has nothing to start. */
export function notInstalled(error: unknown, spec: StdioSpec, redact: EndingContext['redact']): Failed {
  const { isPermanent = false } = error instanceof PackageError ? error : {};
  const { message, ...reason } = packageFailure(error, spec, redact);
  return {
    ...{ kind: 'error', cause: 'spawn', permanent: isPermanent },
    message: redact(`${spec.name}: ${message}`),
    ...reason,
  };
}

/** The same as a text; also where no server is to be started, but a package to be updated. */
export function packageFailure(
  error: unknown,
  spec: StdioSpec,
  redact: EndingContext['redact'],
): Pick<Failed, 'message' | 'why' | 'fix'> {
  const message = redact(messageOf(error));
  if (!(error instanceof PackageError)) return { message, fix: logs(spec.name) };
  const { why, fix, output } = error;
  if (output === undefined)
    return {
      message,
      ...(why !== undefined && { why: redact(why) }),
      ...(fix !== undefined && { fix: redact(fix) }),
    };
  const lines = failureLines(output, redact);
  const cause = knownCause(lines, spec, false);
  return { message, ...reasonOf({ lines, stream: 'stderr', cause, opened: false }, fix ?? logs(spec.name)) };
}

/** The process ended without an order. */
export function exitedUnasked(exit: Exit, about: EndingContext): Failed {
  const { name } = about.spec;
  const when = about.opened ? '' : ` before it had answered initialize${commandOf(about)}`;
  const fix =
    exit.signal === 'SIGKILL'
      ? `${logs(name)}; the system kills like this when memory runs out (see "dmesg")`
      : logs(name);
  return {
    kind: 'error',
    cause: 'exit',
    ...exit,
    message: `${name}: ${howOf(exit)}${when}`,
    ...reasonOf(about, fix),
  };
}

export function noHandshake(about: EndingContext): Failed {
  const { name, startTimeoutMs } = about.spec;
  const message = `${name}: no initialize reply in ${seconds(startTimeoutMs)}${beforeOf(about)}${commandOf(about)}`;
  return {
    kind: 'error',
    cause: 'timeout',
    message,
    ...reasonOf(about, `${logs(name)}, or raise start_timeout`),
  };
}

export function badHandshake(why: string, about: EndingContext): Failed {
  const { name } = about.spec;
  const message = `${name}: the handshake failed: ${why}${beforeOf(about)}${commandOf(about)}`;
  return { kind: 'error', cause: 'protocol', message, ...reasonOf(about, logs(name)) };
}

/** The process runs, but has closed one of its pipes: no call can get through any more. */
export function lostPipe(pipe: 'stdin' | 'stdout', about: EndingContext): Failed {
  const { name } = about.spec;
  const message = `${name}: closed its ${pipe} and did not exit`;
  return { kind: 'error', cause: 'lost', message, ...reasonOf(about, logs(name)) };
}

export function howOf({ code, signal }: Exit): string {
  return signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
}

function reasonOf(
  { lines, stream, cause, opened }: Pick<EndingContext, 'lines' | 'stream' | 'cause' | 'opened'>,
  fix: string,
): Pick<Failed, 'why' | 'fix'> {
  const { shown } = lines;
  // a server that served and died silently: that it wrote nothing explains nothing
  if (shown === '' && opened) return { fix };
  const lastLines = shown === '' ? 'nothing was written to stderr' : `the last lines on ${stream}:\n${shown}`;
  return { why: cause?.why === undefined ? lastLines : `${cause.why}; ${lastLines}`, fix: cause?.fix ?? fix };
}

function beforeOf({ firstExit }: EndingContext): string {
  return firstExit === undefined ? '' : `; a first process ${howOf(firstExit)} on server/discover`;
}

function commandOf({ spec, redact }: EndingContext): string {
  return ` (command: ${shownCommand(spec, redact)})`;
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
  return `see "toolherd logs ${shellWord(name)}"`;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
