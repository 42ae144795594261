import { delimiter } from 'node:path';
import type { StdioSpec } from '../../config/fields/spec.js';
import type { Launch } from '../../packages/entry.js';
import { groupAlive, groupRuns, signalGroup } from '../../processes/group.js';
import { StopSequence, type StopSequenceEnd, type StopStep } from '../../processes/stop-sequence.js';
import type { ProcessTable } from '../../processes/table.js';
import type { Clock } from '../../shared/clock.js';
import { dockerRunAt } from '../../shared/docker-run.js';
import type { Environment } from '../../shared/environment.js';
import { type Child, type Exit, spawnChild } from './child.js';
import { dockerWords, labelledArgs, removeContainers } from './docker.js';
import { type Encoding, serverEncoding } from './encoding.js';
import { childEnvironment } from './environment.js';
import { StdinWriter } from './stdin-writer.js';

export interface ProcessDeps {
  clock: Clock;
  table: ProcessTable;
  /** The daemon's own environment. */
  env: Environment;
}

/** Either `failed`, or in this order: any of the first four, `died`, `gone`. */
export interface ProcessEvents {
  /** The process could not be started; nothing else follows. `path`: where its command was searched. */
  failed(error: Error, path: string | undefined): void;
  /** As UTF-8, from any encoding. */
  stdout(chunk: Buffer): void;
  stderr(chunk: Buffer): void;
  /** The process takes input again. */
  drained(): void;
  /** The process closed one of its pipes; it may still run. */
  pipeClosed(pipe: 'stdin' | 'stdout'): void;
  /** The process is dead, and all its output was read. */
  died(exit: Exit): void;
  /** Everything it started is gone too, or (`gone: false`) survived KILL. Then there may be no `died` before it. */
  gone(end: ProcessEnd): void;
}

export interface ProcessEnd extends StopSequenceEnd {
  /** Processes that had left the group and were killed. */
  escaped: number;
  /** Containers that outlived their client and were removed; undefined where docker did not say. */
  containers: number | undefined;
}

/** What is needed to run a process, and how it is stopped. */
export type RunSpec = Pick<
  StdioSpec,
  'name' | 'command' | 'args' | 'cwd' | 'env' | 'config' | 'encoding' | 'stop'
>;

/** One process of a configured server, from its start until its whole group is gone. */
export class ServerProcess {
  /** Undefined when it could not be started. */
  readonly stdin: StdinWriter | undefined;
  readonly #deps: ProcessDeps;
  readonly #on: ProcessEvents;
  readonly #cookie: string;
  readonly #env: Record<string, string>;
  readonly #docker: string[] | undefined;
  readonly #child: Child | undefined;
  readonly #stopSequence: StopSequence | undefined;
  #exit: Exit | undefined;
  #stopSequenceEnd: StopSequenceEnd | undefined;
  #isOutputRead = false;

  /** `launch`: what is started in place of the command. */
  constructor(spec: RunSpec, deps: ProcessDeps, on: ProcessEvents, launch?: Launch) {
    this.#deps = deps;
    this.#on = on;
    this.#cookie = deps.table.newCookie();
    this.#env = launchEnvironment(childEnvironment(deps.env, spec, this.#cookie), launch);
    const runAt = dockerRunAt(spec.command, spec.args);
    this.#docker = runAt === -1 ? undefined : dockerWords(spec.command, spec.args, runAt);
    const args = runAt === -1 ? spec.args : labelledArgs(spec.args, runAt, this.#cookie);

    const encoding = serverEncoding(spec.encoding);
    this.#child = this.#spawn(launch ?? { command: spec.command, args }, spec.cwd, encoding);
    if (this.#child === undefined) return;
    const { pid, stdin } = this.#child;
    deps.table.add({ pid, name: spec.name, cookie: this.#cookie, docker: this.#docker });
    this.stdin = new StdinWriter(stdin, encoding, {
      drained: on.drained,
      broken: () => on.pipeClosed('stdin'),
    });
    this.#stopSequence = this.#createStopSequence(pid, this.stdin, spec.stop);
  }

  /** Undefined when it has exited, or could not be started. */
  get pid(): number | undefined {
    return this.#exit === undefined ? this.#child?.pid : undefined;
  }

  /** Begins the stop sequence at this step. A later call can only skip to a later step. */
  stop(from: StopStep): void {
    this.#stopSequence?.begin(from);
  }

  #spawn(
    { command, args }: Pick<Launch, 'command' | 'args'>,
    cwd: string,
    encoding: Encoding,
  ): Child | undefined {
    const on = this.#on;
    return spawnChild(
      { command, args, cwd, env: this.#env },
      {
        failed: (error) => on.failed(error, this.#env.PATH),
        stdout: decoded(encoding, on.stdout),
        stderr: decoded(encoding, on.stderr),
        stdoutEnded: () => on.pipeClosed('stdout'),
        exited: (exit) => {
          this.#exit = exit;
          this.#stopSequence?.leaderExited();
        },
        drained: () => {
          this.#isOutputRead = true;
          on.died(this.#exit ?? { code: null, signal: null });
          this.#reportGone();
        },
      },
    );
  }

  #createStopSequence(pid: number, input: StdinWriter, stop: StdioSpec['stop']): StopSequence {
    const world = {
      clock: this.#deps.clock,
      closeInput: () => input.end(),
      signal: (signal: 'SIGTERM' | 'SIGKILL') => signalGroup(pid, signal),
      groupRuns: (thorough: boolean) => (thorough ? groupRuns(pid) : groupAlive(pid)),
    };
    return new StopSequence(world, stop, (end) => {
      this.#stopSequenceEnd = end;
      this.#reportGone();
    });
  }

  /** Once its output is read and its group is gone; a group that survives KILL is not waited for. */
  #reportGone(): void {
    const end = this.#stopSequenceEnd;
    if (end === undefined || this.#child === undefined || (end.gone && !this.#isOutputRead)) return;
    this.#child.release();
    void this.#clearUp(this.#child.pid, end).then((cleared) => this.#on.gone(cleared));
  }

  async #clearUp(pid: number, end: StopSequenceEnd): Promise<ProcessEnd> {
    // a group that survived KILL stays in the table: the watchdog and the next start try again
    if (!end.gone) return { ...end, escaped: 0, containers: 0 };
    const escaped = await this.#deps.table.sweep(this.#cookie);
    const removed =
      this.#docker === undefined ? [] : await removeContainers(this.#docker, this.#cookie, this.#env);
    this.#deps.table.remove(pid);
    return { ...end, escaped, containers: removed?.length };
  }
}

/** The variables of a launch, unless the entry sets them, and its folders in front of PATH. */
function launchEnvironment(env: Record<string, string>, launch: Launch | undefined): Record<string, string> {
  if (launch === undefined) return env;
  return { ...launch.env, ...env, PATH: [...launch.path, env.PATH].join(delimiter) };
}

function decoded(encoding: Encoding, take: (chunk: Buffer) => void): (chunk: Buffer) => void {
  const decode = encoding.decoder();
  return decode === undefined ? take : (chunk) => take(decode(chunk));
}
