import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { spawnShortage } from '../../processes/spawn-shortage.js';
import { afterLastBytes, readInTurns } from './pipes.js';

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface ChildOptions {
  command: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
}

export interface ChildEvents {
  /** The process could not be started; nothing else follows. */
  failed(error: Error): void;
  stdout(chunk: Buffer): void;
  stderr(chunk: Buffer): void;
  /** The server closed its stdout; it may still run. */
  stdoutEnded(): void;
  /** The process is dead. Not Node's `close`: a helper can hold the pipes open for ever. */
  exited(exit: Exit): void;
  /** After `exited`: everything it wrote before its death was read. */
  drained(): void;
}

export interface Child {
  readonly pid: number;
  readonly stdin: Writable;
  /** Closes the pipes, which a helper outside of the group may still hold open. */
  release(): void;
}

/**
 * Starts a process as the leader of a new session and group. The stop sequence and the process table end it. No event
 * comes before this has returned.
 */
export function spawnChild(options: ChildOptions, on: ChildEvents): Child | undefined {
  const subprocess = start(options);
  if (subprocess instanceof Error) {
    void Promise.resolve(subprocess).then(on.failed);
    return undefined;
  }
  if (subprocess.pid === undefined) {
    subprocess.once('error', on.failed);
    return undefined;
  }
  const { pid, stdin, stdout, stderr } = subprocess;
  const stdoutBytes = readInTurns(stdout, on.stdout);
  stdout.once('end', on.stdoutEnded);
  const stderrBytes = readInTurns(stderr, on.stderr);
  // a signal that could not be sent, a pipe that broke: `exit` is what matters
  for (const emitter of [subprocess, stdout, stderr]) emitter.on('error', () => undefined);
  subprocess.once('exit', (code, signal) => {
    on.exited({ code, signal });
    afterLastBytes(() => stdoutBytes() + stderrBytes(), on.drained);
  });
  return { pid, stdin, release: () => release(stdout, stderr) };
}

/** Node throws some errors and reports others as an event. Without execa: the daemon would load it at every start. */
function start({ command, args, cwd, env }: ChildOptions): ChildProcessWithoutNullStreams | Error {
  // at the limit of open files Node leaks the pipes of a child that it cannot start, so it is not tried
  const shortage = spawnShortage();
  if (shortage !== undefined) return shortage;
  try {
    return spawn(command, args, { cwd, env, detached: true });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function release(...streams: Readable[]): void {
  for (const stream of streams) stream.destroy();
}
