import type { StdioSpec } from '../../config/schema/spec.js';
import type { Ending, Failed } from '../../machines/ending.js';
import { withoutEscapes } from '../../shared/control-characters.js';
import { bufferPool } from '../../shared/framing/buffer-pool.js';
import { detachBuffer } from '../../shared/framing/detach-buffer.js';
import { Framer, type FramerEvents } from '../../shared/framing/framer.js';
import type { JsonObject } from '../../shared/json.js';
import type { Link, LinkEvents, LinkLog, Opened, Unwatch } from '../link.js';
import type { StopStep } from '../process/stop-sequence.js';
import { type ListMethod, listAll } from '../protocol/list.js';
import type { Negotiation } from '../protocol/negotiation/negotiation.js';
import {
  createProtocolStack,
  type ProtocolDeps,
  type ProtocolStack,
  reasonOf,
} from '../protocol/negotiation/protocol-stack.js';
import { watchResource } from '../protocol/negotiation/watch-resource.js';
import { isForDriver } from '../protocol/protocol-driver.js';
import { endingError } from '../session/ending-error.js';
import type { Message } from '../session/message.js';
import type { Session } from '../session/session.js';
import type { Exit } from './child.js';
import { redactingArguments } from './command-line.js';
import {
  badHandshake,
  type Circumstances,
  exitedByItself,
  howOf,
  lostPipe,
  noHandshake,
  notGone,
  notStarted,
} from './endings.js';
import { failureLines } from './failure-lines.js';
import { blamesProbe, knownCause } from './known-causes.js';
import { LogLines } from './log-lines.js';
import { OutputTail } from './output-tail.js';
import { type ProcessDeps, type ProcessEnd, ServerProcess } from './server-process.js';

export interface StdioDeps extends ProcessDeps, ProtocolDeps {}

/** A server that closed a pipe is given this long to exit before it counts as lost. */
const PIPE_GRACE_MS = 500;
/** Of a server that has served, only what it wrote right before its end can be the reason of that. */
const RIGHT_BEFORE_MS = 5000;
/** A server that ends on `server/discover` does so at once. One that ends later and says something failed otherwise. */
const PROBE_DEATH_MS = 5000;
const NO_OUTPUT: Output = { stream: 'stderr', text: '' };
const NEWLINE = Buffer.from('\n');

interface Output {
  stream: Circumstances['stream'];
  text: string;
}

/** Starts the server's process and shakes hands with it. Everything that follows is told through `on`. */
export function openStdio(spec: StdioSpec, deps: StdioDeps, on: LinkEvents): Link {
  return new StdioLink(spec, deps, on);
}

class StdioLink implements Link {
  readonly session: Session;
  readonly #spec: StdioSpec;
  readonly #deps: StdioDeps;
  readonly #on: LinkEvents;
  /** Takes out what was declared, and what the arguments hold in the clear. */
  readonly #redact: (text: string) => string;
  readonly #stderr: LogLines;
  readonly #noise: LogLines;
  /** The last of both, for the words of an ending. */
  readonly #errorTail: OutputTail;
  readonly #noiseTail: OutputTail;
  readonly #driver: Negotiation;
  #startTimer: unknown;
  /** When the process got its first request. */
  #greetedAt: number;
  /** Of two at most: one that ended because it was asked for its era is followed by another. */
  #process: ServerProcess;
  #startsAgain = false;
  /** How the first of the two ended, and what it had written. */
  #first: { exit: Exit; output: Output } | undefined;
  #pipeTimer: unknown;
  #opened: Opened | undefined;
  /** Decided once, by whatever comes first; told when the process is gone. */
  #ending: Ending | undefined;

  constructor(spec: StdioSpec, deps: StdioDeps, on: LinkEvents) {
    this.#spec = spec;
    this.#deps = deps;
    this.#on = on;
    const { clock } = deps;
    this.#redact = redactingArguments(spec, deps.redact);
    // a colour must not divide a secret
    this.#stderr = new LogLines(clock, (text) => this.#log('stderr', withoutEscapes(text)));
    this.#noise = new LogLines(clock, (text) => this.#log('stdout', withoutEscapes(text)));
    this.#errorTail = new OutputTail(clock);
    this.#noiseTail = new OutputTail(clock);
    const { session, driver } = this.#newTalk();
    this.session = session;
    this.#driver = driver;
    this.#process = this.#newProcess();
    this.#limitStart();
    this.#greetedAt = clock.now();
    driver.open().then(
      (opened) => this.#open(opened),
      (error: unknown) => this.#fail(badHandshake(this.#redact(reasonOf(error)), this.#circumstances())),
    );
  }

  get pids(): readonly number[] {
    const { pid } = this.#process;
    return pid === undefined ? [] : [pid];
  }

  ping(timeoutMs: number): Promise<void> {
    return this.#driver.ping(timeoutMs);
  }

  async list(method: ListMethod, onTtl?: (ttlMs: number) => void): Promise<JsonObject[]> {
    const { items, ttlMs } = await listAll(this.session, this.#opened?.capabilities ?? {}, method);
    if (ttlMs !== undefined) onTtl?.(ttlMs);
    return items;
  }

  watch(uri: string): Promise<Unwatch> {
    return watchResource(this.session, this.#driver, uri);
  }

  close(from: StopStep = 'close'): void {
    this.#decide({ kind: 'disconnected', reason: 'stopped', killed: false });
    this.session.seal();
    this.#process.stop(from);
  }

  #newTalk(): ProtocolStack {
    const link = this;
    return createProtocolStack({
      spec: this.#spec,
      deps: this.#deps,
      wire: {
        get ready() {
          return link.#opened !== undefined && link.#process.ready;
        },
        write: (line) => this.#process.write(line),
      },
      other: (message, line) => this.#receive(message, line),
      notification: (method, params) => this.#on.notification(method, params),
    });
  }

  #newProcess(): ServerProcess {
    const { maxMessageBytes } = this.#spec;
    const lines: FramerEvents = {
      line: (line) => this.session.deliver(line),
      long: () => this.session.deliverLong(),
      oversized: (line) => {
        if (this.session.deliverOversized(line)) return;
        this.#log('stdout', `(a line of ${line.bytes} bytes dropped: more than max_message_bytes)`);
        if (this.#opened !== undefined) return;
        this.#fail(badHandshake('a message over max_message_bytes', this.#circumstances()));
      },
    };
    const framer = new Framer(maxMessageBytes, lines, bufferPool);
    const process: ServerProcess = new ServerProcess(this.#spec, this.#deps, {
      failed: (error, path) => this.#notStarted(notStarted(this.#spec, path, error, this.#redact)),
      stdout: (chunk) => {
        if (framer.push(chunk)) detachBuffer(chunk);
      },
      stderr: (chunk) => {
        this.#stderr.push(chunk);
        this.#errorTail.push(chunk);
      },
      drained: () => this.session.resume(),
      // the pipes of one that is being replaced matter to nobody
      pipeClosed: (pipe) => process === this.#process && !this.#startsAgain && this.#pipeClosed(pipe),
      died: (exit) => this.#died(exit),
      gone: (end) => this.#gone(end),
    });
    return process;
  }

  /** Each process has the whole of it: one that is started again has to load as much as the one before. */
  #limitStart(): void {
    const { clock } = this.#deps;
    clock.clearTimeout(this.#startTimer);
    const late = () => this.#fail(noHandshake(this.#circumstances()));
    this.#startTimer = clock.setTimeout(late, this.#spec.startTimeoutMs);
  }

  #open(opened: Opened): void {
    if (this.#ending !== undefined) return;
    this.#deps.clock.clearTimeout(this.#startTimer);
    this.#opened = opened;
    this.#on.opened(opened);
    this.session.resume();
  }

  #receive(message: Message, line: Buffer | undefined): void {
    if (message.kind === 'broken') this.#logNoise(line);
    else if (message.kind === 'notification' && !isForDriver(message.method)) {
      this.#on.notification(message.method, message.params);
    } else if (message.kind !== 'batch' && !this.#driver.receive(message.raw)) this.#logNoise(line);
  }

  /** True for the first reason to end; every later one is a consequence. */
  #decide(ending: Ending): boolean {
    if (this.#ending !== undefined) return false;
    this.#ending = ending;
    if (ending.kind === 'error') this.#log('link', ending.message);
    this.#deps.clock.clearTimeout(this.#startTimer);
    this.#deps.clock.clearTimeout(this.#pipeTimer);
    return true;
  }

  /** Something is wrong with it: what waits or runs is told at once, and the process has to go. */
  #fail(failed: Failed): void {
    if (!this.#decide(failed)) return;
    this.#closeSession(failed);
    this.#process.stop('term');
  }

  #pipeClosed(pipe: 'stdin' | 'stdout'): void {
    if (this.#ending !== undefined) return;
    const { clock } = this.#deps;
    const process = this.#process;
    const lost = () => {
      if (process === this.#process && process.pid !== undefined)
        this.#fail(lostPipe(pipe, this.#circumstances()));
    };
    // a daemon that was busy with other things for all that time hears of an exit in its next turn
    this.#pipeTimer ??= clock.setTimeout(() => setImmediate(lost), PIPE_GRACE_MS);
  }

  #notStarted(failed: Failed): void {
    this.#decide(failed);
    this.#driver.close();
    const ending = this.#ending ?? failed;
    this.#closeSession(ending);
    this.#on.ended(ending);
  }

  #died(exit: Exit): void {
    this.#stderr.end();
    this.#noise.end();
    if (this.#ending === undefined && !this.#diedUnasked(exit)) return;
    if (this.#ending !== undefined) this.#closeSession(this.#ending);
    this.#driver.close();
  }

  /** Nothing had asked it to end. False where another process is to follow within this link. */
  #diedUnasked(exit: Exit): boolean {
    const all = this.#circumstances();
    // what it wrote is not why something else killed it
    const about = exit.signal === null ? all : { ...all, cause: undefined };
    if (this.#driver.diedOfProbe() && this.#mayHaveDiedOfProbe(about)) {
      this.#deps.clock.clearTimeout(this.#pipeTimer);
      this.#pipeTimer = undefined;
      this.#startsAgain = true;
      this.#first = { exit, output: this.#lastOutput() };
      return false;
    }
    if (exit.code === 0 && about.opened && this.session.inFlight === 0) {
      this.#log('link', `${this.#spec.name}: ${howOf(exit)}`);
      this.#decide({ kind: 'disconnected', reason: 'ended', killed: false });
    } else this.#decide(exitedByItself(exit, about));
    return true;
  }

  /** A server that `npx` first had to download reads the probe late; its own words, or none, are what is left to go by. */
  #mayHaveDiedOfProbe({ cause, lines }: Circumstances): boolean {
    if (cause !== undefined) return false;
    const isSoon = this.#deps.clock.now() - this.#greetedAt <= PROBE_DEATH_MS;
    return isSoon || lines.onlyNoise || blamesProbe(lines);
  }

  #circumstances(): Circumstances {
    const { stream, text } = this.#lastOutput();
    const lines = failureLines(text, this.#redact);
    const opened = this.#opened !== undefined;
    return {
      spec: this.#spec,
      redact: this.#redact,
      opened,
      firstExit: this.#first?.exit,
      stream,
      lines,
      cause: knownCause(lines, this.#spec, opened),
    };
  }

  /** Of the process that runs, or else, while none has answered, of the one before it. */
  #lastOutput(): Output {
    const isOpen = this.#opened !== undefined;
    const since = isOpen ? this.#deps.clock.now() - RIGHT_BEFORE_MS : 0;
    const outputs: Output[] = [
      { stream: 'stderr', text: this.#errorTail.textSince(since) },
      { stream: 'stdout', text: this.#noiseTail.textSince(since) },
    ];
    return (
      outputs.find(({ text }) => text.trim() !== '') ??
      (isOpen ? NO_OUTPUT : (this.#first?.output ?? NO_OUTPUT))
    );
  }

  /** It ended when it was asked for its era, which some servers do. */
  #startAgain(exit: Exit): void {
    this.#startsAgain = false;
    this.#log(
      'link',
      `it ${howOf(exit)} on server/discover and is started again, to be greeted with initialize`,
    );
    this.#errorTail.clear();
    this.#noiseTail.clear();
    this.#limitStart();
    this.#process = this.#newProcess();
    this.#driver.startAgain();
  }

  #gone(end: ProcessEnd): void {
    this.#stderr.end();
    this.#noise.end();
    if (end.escaped > 0) this.#log('link', `${end.escaped} processes had left the group and were killed`);
    if (end.containers === undefined) this.#log('link', 'docker did not say whether a container was left');
    else if (end.containers > 0)
      this.#log('link', `${end.containers} containers outlived their client and were removed`);
    const decided = this.#ending;
    if (this.#startsAgain && this.#first !== undefined && decided === undefined && end.gone) {
      this.#startAgain(this.#first.exit);
      return;
    }
    const ending: Ending = !end.gone || decided === undefined ? notGone(this.#spec.name) : decided;
    this.#closeSession(ending);
    this.#driver.close();
    this.#on.ended(ending.kind === 'disconnected' ? { ...ending, killed: end.killed } : ending);
  }

  #closeSession(ending: Ending): void {
    this.session.close((sent) => endingError(this.#spec.name, ending, sent));
  }

  #logNoise(line: Buffer | undefined): void {
    if (line === undefined) return;
    for (const sink of [this.#noise, this.#noiseTail]) {
      sink.push(line);
      sink.push(NEWLINE);
    }
  }

  #log(source: LinkLog['source'], text: string): void {
    this.#deps.log({ source, text: this.#redact(text) });
  }
}
