import type { StdioSpec } from '../../config/fields/spec.js';
import type { Ending, Failed } from '../../machines/restart/ending.js';
import type { Launch, LaunchEvents, Launching } from '../../packages/entry.js';
import type { StopStep } from '../../processes/stop-sequence.js';
import { bufferPool } from '../../shared/framing/buffer-pool.js';
import { detachBuffer } from '../../shared/framing/detach-buffer.js';
import { Framer, type FramerEvents } from '../../shared/framing/framer.js';
import { endingError } from '../failures/ending-error.js';
import { failureLines } from '../failures/failure-lines.js';
import { blamesProbe, knownCause } from '../failures/known-causes.js';
import {
  badHandshake,
  type EndingContext,
  exitedUnasked,
  howOf,
  lostPipe,
  noHandshake,
  notGone,
  notInstalled,
  notStarted,
} from '../failures/process-endings.js';
import { redactingArguments } from '../failures/shown-command.js';
import type { Link, LinkEvents, LinkLog } from '../link.js';
import { BaseLink } from '../protocol/negotiation/base-link.js';
import { handshakeFailureText, type ProtocolDeps } from '../protocol/negotiation/protocol-stack.js';
import type { Exit } from './child.js';
import { type LastOutput, ServerOutput } from './server-output.js';
import { type ProcessDeps, type ProcessEnd, ServerProcess } from './server-process.js';

export interface StdioDeps extends ProcessDeps, ProtocolDeps {
  /** What is started in place of the command; undefined: the command itself. Throws a PackageError. */
  launch?(spec: StdioSpec, on: LaunchEvents): Launching | undefined;
  /** Writes into the server's journal. */
  note?(text: string): void;
}

/** A server that closed a pipe has this long to exit before it counts as lost. */
const PIPE_GRACE_MS = 500;
/** After the handshake, only what the server wrote right before its end can be the reason for it. */
const RIGHT_BEFORE_MS = 5000;
/** A server that exits on `server/discover` does so at once. One that exits later with an error failed otherwise. */
const PROBE_DEATH_MS = 5000;
const NO_OUTPUT: LastOutput = { stream: 'stderr', text: '' };

/** Starts the server's process and opens a session with it. `on` gets everything that follows. */
export function openStdio(spec: StdioSpec, deps: StdioDeps, on: LinkEvents): Link {
  return new StdioLink(spec, deps, on);
}

class StdioLink extends BaseLink {
  readonly #spec: StdioSpec;
  readonly #deps: StdioDeps;
  /** Removes declared values, and secrets that the arguments show. */
  readonly #redact: (text: string) => string;
  readonly #output: ServerOutput;
  /** When the process got its first request. */
  #firstRequestAt = 0;
  /** What is started in place of the command. */
  #launch: Launch | undefined;
  /** Ends the wait for the launch. */
  #cancelLaunch: (() => void) | undefined;
  /** One of at most two: a server that exits on `server/discover` is started again. Undefined until it can be started. */
  #process: ServerProcess | undefined;
  /** The first process is dead, and a second one follows when its group is gone. */
  #isRestarting = false;
  /** How the first of two processes ended, and what it wrote last. */
  #firstProcess: { exit: Exit; output: LastOutput } | undefined;
  #pipeTimer: unknown;

  constructor(spec: StdioSpec, deps: StdioDeps, on: LinkEvents) {
    super(spec, deps, on);
    this.#spec = spec;
    this.#deps = deps;
    this.#redact = redactingArguments(spec, deps.redact);
    this.#output = new ServerOutput(deps.clock, this.#redact, (source, text) => deps.log({ source, text }));
    const launching = this.#prepare();
    if (launching === undefined || 'launch' in launching) {
      this.#begin(launching?.launch);
      return;
    }
    this.#cancelLaunch = launching.cancel;
    on.installing?.();
    launching.coming.then(
      (launch) => this.#launched(launch),
      (error: unknown) => this.#notLaunched(error),
    );
  }

  get pids(): readonly number[] {
    const pid = this.#process?.pid;
    return pid === undefined ? [] : [pid];
  }

  close(from: StopStep = 'close'): void {
    this.decide({ kind: 'disconnected', reason: 'stopped', killed: false });
    this.session.seal();
    if (this.#process !== undefined) this.#process.stop(from);
    else if (this.#cancelLaunch !== undefined && this.ending !== undefined) {
      this.#cancelLaunch();
      this.#cancelLaunch = undefined;
      this.#notStarted(this.ending);
    }
  }

  protected get isWritable(): boolean {
    return this.#process?.stdin?.ready ?? false;
  }

  write(line: string): boolean {
    return this.#process?.stdin?.write(line) ?? false;
  }

  #prepare(): Launching | undefined {
    try {
      return this.#deps.launch?.(this.#spec, {
        stderr: (chunk) => this.#output.stderr(chunk),
        note: (text) => {
          this.#log('link', text);
          this.#deps.note?.(this.#redact(text));
        },
      });
    } catch (error) {
      return { coming: Promise.reject(error), cancel: () => undefined };
    }
  }

  /** From now on `start_timeout` runs: the time in which npm installs a package does not count. */
  #begin(launch: Launch | undefined): void {
    this.#launch = launch;
    this.#process = this.#startProcess();
    this.#limitStart();
    this.#firstRequestAt = this.#deps.clock.now();
    this.driver.open().then(
      (opened) => this.open(opened),
      (error: unknown) =>
        this.#fail(badHandshake(this.#redact(handshakeFailureText(error)), this.#circumstances())),
    );
  }

  #launched(launch: Launch): void {
    if (this.ending !== undefined) return;
    this.#output.endLines();
    // what npm wrote does not explain how the server ends
    this.#output.clearTails();
    this.#begin(launch);
  }

  #notLaunched(error: unknown): void {
    if (this.ending !== undefined) return;
    this.#output.endLines();
    this.#cancelLaunch = undefined;
    this.#notStarted(notInstalled(error, this.#spec, this.#redact));
  }

  protected logNoise(line: Buffer | undefined): void {
    if (line !== undefined) this.#output.noise(line);
  }

  protected override decide(ending: Ending): boolean {
    const isFirst = super.decide(ending);
    if (isFirst) {
      if (ending.kind === 'error') this.#log('link', ending.message);
      this.#deps.clock.clearTimeout(this.#pipeTimer);
    }
    return isFirst;
  }

  #startProcess(): ServerProcess {
    const { maxMessageBytes } = this.#spec;
    const lines: FramerEvents = {
      line: (line) => this.session.deliver(line),
      long: () => this.session.deliverLong(),
      oversized: (line) => {
        if (this.session.deliverOversized(line)) return;
        this.#log('stdout', `(a line of ${line.bytes} bytes dropped: more than max_message_bytes)`);
        if (this.opened !== undefined) return;
        this.#fail(badHandshake('a message over max_message_bytes', this.#circumstances()));
      },
    };
    const framer = new Framer(maxMessageBytes, lines, bufferPool);
    const process: ServerProcess = new ServerProcess(
      this.#spec,
      this.#deps,
      {
        failed: (error, path) =>
          this.#notStarted(notStarted({ ...this.#spec, ...this.#launch }, path, error, this.#redact)),
        stdout: (chunk) => {
          if (framer.push(chunk)) detachBuffer(chunk);
        },
        stderr: (chunk) => this.#output.stderr(chunk),
        drained: () => this.session.resume(),
        // the pipes of a process that is being replaced do not matter
        pipeClosed: (pipe) => process === this.#process && !this.#isRestarting && this.#pipeClosed(pipe),
        died: (exit) => this.#died(exit),
        gone: (end) => this.#gone(end),
      },
      this.#launch,
    );
    return process;
  }

  /** Each process has the whole limit: the second one has to load as much as the first. */
  #limitStart(): void {
    this.limitHandshake(this.#spec.startTimeoutMs, () => this.#fail(noHandshake(this.#circumstances())));
  }

  /** The server is unusable: its calls fail at once, and its process is stopped. */
  #fail(failed: Failed): void {
    if (!this.decide(failed)) return;
    this.#closeSession(failed);
    this.#process?.stop('term');
  }

  #pipeClosed(pipe: 'stdin' | 'stdout'): void {
    if (this.ending !== undefined) return;
    const { clock } = this.#deps;
    const process = this.#process;
    const lost = () => {
      if (process !== undefined && process === this.#process && process.pid !== undefined)
        this.#fail(lostPipe(pipe, this.#circumstances()));
    };
    // a daemon that was busy for all that time gets the exit event in its next turn
    this.#pipeTimer ??= clock.setTimeout(() => setImmediate(lost), PIPE_GRACE_MS);
  }

  #notStarted(reason: Ending): void {
    this.decide(reason);
    this.driver.close();
    const ending = this.ending ?? reason;
    this.#closeSession(ending);
    this.end(ending);
  }

  #died(exit: Exit): void {
    this.#output.endLines();
    if (this.ending === undefined && !this.#diedUnasked(exit)) return;
    if (this.ending !== undefined) this.#closeSession(this.ending);
    this.driver.close();
  }

  /** The process exited without an order. False where a second process follows within this link. */
  #diedUnasked(exit: Exit): boolean {
    const all = this.#circumstances();
    // a signal came from outside: the output does not explain it
    const about = exit.signal === null ? all : { ...all, cause: undefined };
    if (this.driver.diedOfProbe() && this.#mayHaveDiedOfProbe(about)) {
      this.#deps.clock.clearTimeout(this.#pipeTimer);
      this.#pipeTimer = undefined;
      this.#isRestarting = true;
      this.#firstProcess = { exit, output: this.#lastOutput() };
      return false;
    }
    if (exit.code === 0 && about.opened && this.session.inFlight === 0) {
      this.#log('link', `${this.#spec.name}: ${howOf(exit)}`);
      this.decide({ kind: 'disconnected', reason: 'ended', killed: false });
    } else this.decide(exitedUnasked(exit, about));
    return true;
  }

  /** A server that `npx` first had to download reads the probe late; then its output, or the lack of any, decides. */
  #mayHaveDiedOfProbe({ cause, lines }: EndingContext): boolean {
    if (cause !== undefined) return false;
    const isSoon = this.#deps.clock.now() - this.#firstRequestAt <= PROBE_DEATH_MS;
    return isSoon || lines.onlyNoise || blamesProbe(lines);
  }

  #circumstances(): EndingContext {
    const { stream, text } = this.#lastOutput();
    const lines = failureLines(text, this.#redact);
    const opened = this.opened !== undefined;
    return {
      spec: this.#spec,
      redact: this.#redact,
      opened,
      firstExit: this.#firstProcess?.exit,
      stream,
      lines,
      cause: knownCause(lines, this.#spec, opened),
    };
  }

  /** Of the running process; before the handshake, where it wrote nothing, of the first process. */
  #lastOutput(): LastOutput {
    if (this.opened !== undefined) {
      return this.#output.lastSince(this.#deps.clock.now() - RIGHT_BEFORE_MS) ?? NO_OUTPUT;
    }
    return this.#output.lastSince(0) ?? this.#firstProcess?.output ?? NO_OUTPUT;
  }

  /** The first process exited on `server/discover`, as some servers do: the second one gets `initialize` first. */
  #startAgain(exit: Exit): void {
    this.#isRestarting = false;
    this.#log(
      'link',
      `it ${howOf(exit)} on server/discover and is started again, to be greeted with initialize`,
    );
    this.#output.clearTails();
    this.#limitStart();
    this.#process = this.#startProcess();
    this.driver.startAgain();
  }

  #gone(end: ProcessEnd): void {
    this.#output.endLines();
    if (end.escaped > 0) this.#log('link', `${end.escaped} processes had left the group and were killed`);
    if (end.containers === undefined) this.#log('link', 'docker did not say whether a container was left');
    else if (end.containers > 0)
      this.#log('link', `${end.containers} containers outlived their client and were removed`);
    const decided = this.ending;
    if (this.#isRestarting && this.#firstProcess !== undefined && decided === undefined && end.gone) {
      this.#startAgain(this.#firstProcess.exit);
      return;
    }
    const ending: Ending = !end.gone || decided === undefined ? notGone(this.#spec.name) : decided;
    this.#closeSession(ending);
    this.driver.close();
    this.end(ending.kind === 'disconnected' ? { ...ending, killed: end.killed } : ending);
  }

  #closeSession(ending: Ending): void {
    this.session.close((sent) => endingError(this.#spec.name, ending, sent));
  }

  #log(source: LinkLog['source'], text: string): void {
    this.#deps.log({ source, text: this.#redact(text) });
  }
}
