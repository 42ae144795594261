import type { StdioSpec } from '../../config/spec.js';
import { blocks } from '../../framing/blocks.js';
import { Framer, type FramerEvents } from '../../framing/framer.js';
import { free } from '../../framing/free.js';
import type { Ending, Failed } from '../../machines/ending.js';
import { callErrorFor } from '../call-error.js';
import type { Negotiation } from '../era/negotiation.js';
import type { Link, LinkEvents, LinkLog, Opened, Unwatch } from '../link.js';
import { type ListMethod, listAll } from '../list.js';
import type { Rung } from '../process/ladder.js';
import type { JsonObject, Message } from '../session/message.js';
import type { Session } from '../session/session.js';
import { makeTalk, reasonOf, type Talk, type TalkDeps } from '../talk.js';
import { isForUpstream } from '../upstream.js';
import { watch } from '../watch.js';
import type { Exit } from './child.js';
import { badHandshake, exitedByItself, lostPipe, noHandshake, notGone, notStarted } from './endings.js';
import { LogLines } from './log-lines.js';
import { type ProcessDeps, type ProcessEnd, ServerProcess } from './server-process.js';

export interface StdioDeps extends ProcessDeps, TalkDeps {}

/** A server that closed a pipe is given this long to exit before it counts as lost. */
const PIPE_GRACE_MS = 500;
const NEWLINE = Buffer.from('\n');

/** Starts the server's process and shakes hands with it. Everything that follows is told through `on`. */
export function openStdio(spec: StdioSpec, deps: StdioDeps, on: LinkEvents): Link {
  return new StdioLink(spec, deps, on);
}

class StdioLink implements Link {
  readonly session: Session;
  readonly #spec: StdioSpec;
  readonly #deps: StdioDeps;
  readonly #on: LinkEvents;
  readonly #stderr: LogLines;
  readonly #noise: LogLines;
  readonly #upstream: Negotiation;
  readonly #startTimer: unknown;
  /** Of two at most: one that ended because it was asked for its era is followed by another. */
  #process: ServerProcess;
  #startsAgain = false;
  #pipeTimer: unknown;
  #opened: Opened | undefined;
  /** Decided once, by whatever comes first; told when the process is gone. */
  #ending: Ending | undefined;

  constructor(spec: StdioSpec, deps: StdioDeps, on: LinkEvents) {
    this.#spec = spec;
    this.#deps = deps;
    this.#on = on;
    const { clock } = deps;
    this.#stderr = new LogLines(clock, (text) => this.#log('stderr', text));
    this.#noise = new LogLines(clock, (text) => this.#log('stdout', text));
    const { session, upstream } = this.#newTalk();
    this.session = session;
    this.#upstream = upstream;
    this.#process = this.#newProcess();
    this.#startTimer = clock.setTimeout(
      () => this.#fail(noHandshake(spec.name, spec.startTimeoutMs)),
      spec.startTimeoutMs,
    );
    upstream.open().then(
      (opened) => this.#open(opened),
      (error: unknown) => this.#fail(badHandshake(spec.name, deps.redact(reasonOf(error)))),
    );
  }

  get pids(): readonly number[] {
    const { pid } = this.#process;
    return pid === undefined ? [] : [pid];
  }

  ping(timeoutMs: number): Promise<void> {
    return this.#upstream.ping(timeoutMs);
  }

  async list(method: ListMethod, onTtl?: (ttlMs: number) => void): Promise<JsonObject[]> {
    const { items, ttlMs } = await listAll(this.session, this.#opened?.capabilities ?? {}, method);
    if (ttlMs !== undefined) onTtl?.(ttlMs);
    return items;
  }

  watch(uri: string): Promise<Unwatch> {
    return watch(this.session, this.#upstream, uri);
  }

  close(from: Rung = 'close'): void {
    this.#decide({ kind: 'disconnected', reason: 'stopped', killed: false });
    this.session.seal();
    this.#process.stop(from);
  }

  #newTalk(): Talk {
    const link = this;
    return makeTalk({
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
    const { name, maxMessageBytes } = this.#spec;
    const lines: FramerEvents = {
      line: (line) => this.session.deliver(line),
      long: () => this.session.deliverLong(),
      oversized: (line) => {
        if (this.session.deliverOversized(line)) return;
        this.#log('stdout', `(a line of ${line.bytes} bytes dropped: more than max_message_bytes)`);
        if (this.#opened === undefined) this.#fail(badHandshake(name, 'a message over max_message_bytes'));
      },
    };
    const framer = new Framer(maxMessageBytes, lines, blocks);
    const process: ServerProcess = new ServerProcess(this.#spec, this.#deps, {
      failed: (error, path) => this.#notStarted(notStarted(this.#spec, path, error)),
      stdout: (chunk) => {
        if (framer.push(chunk)) free(chunk);
      },
      stderr: (chunk) => this.#stderr.push(chunk),
      drained: () => this.session.resume(),
      // the pipes of one that is being replaced matter to nobody
      pipeClosed: (pipe) => process === this.#process && !this.#startsAgain && this.#pipeClosed(pipe),
      died: (exit) => this.#died(exit),
      gone: (end) => this.#gone(end),
    });
    return process;
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
    else if (message.kind === 'notification' && !isForUpstream(message.method)) {
      this.#on.notification(message.method, message.params);
    } else if (message.kind !== 'batch' && !this.#upstream.receive(message.raw)) this.#logNoise(line);
  }

  /** True for the first reason to end; every later one is a consequence. */
  #decide(ending: Ending): boolean {
    if (this.#ending !== undefined) return false;
    this.#ending = ending;
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
      if (process === this.#process && process.pid !== undefined) this.#fail(lostPipe(this.#spec.name, pipe));
    };
    // a daemon that was busy with other things for all that time hears of an exit in its next turn
    this.#pipeTimer ??= clock.setTimeout(() => setImmediate(lost), PIPE_GRACE_MS);
  }

  #notStarted(failed: Failed): void {
    this.#decide(failed);
    this.#upstream.close();
    const ending = this.#ending ?? failed;
    this.#closeSession(ending);
    this.#on.ended(ending);
  }

  #died(exit: Exit): void {
    if (this.#ending === undefined && this.#upstream.diedOfProbe()) {
      this.#deps.clock.clearTimeout(this.#pipeTimer);
      this.#pipeTimer = undefined;
      this.#startsAgain = true;
      return;
    }
    const { name } = this.#spec;
    const opened = this.#opened !== undefined;
    const clean = exit.code === 0 && opened && this.session.inFlight === 0;
    this.#decide(
      clean ? { kind: 'disconnected', reason: 'ended', killed: false } : exitedByItself(name, exit, opened),
    );
    if (this.#ending !== undefined) this.#closeSession(this.#ending);
    this.#upstream.close();
  }

  /** It ended when it was asked for its era. Nobody has heard of it yet, so nobody has to know. */
  #startAgain(): void {
    this.#startsAgain = false;
    this.#log('link', 'it ended on server/discover and is started again, to be greeted with initialize');
    this.#process = this.#newProcess();
    this.#upstream.startAgain();
  }

  #gone(end: ProcessEnd): void {
    this.#stderr.end();
    this.#noise.end();
    if (end.escaped > 0) this.#log('link', `${end.escaped} processes had left the group and were killed`);
    if (end.containers === undefined) this.#log('link', 'docker did not say whether a container was left');
    else if (end.containers > 0)
      this.#log('link', `${end.containers} containers outlived their client and were removed`);
    const decided = this.#ending;
    if (this.#startsAgain && decided === undefined && end.gone) {
      this.#startAgain();
      return;
    }
    const ending: Ending = !end.gone || decided === undefined ? notGone(this.#spec.name) : decided;
    this.#closeSession(ending);
    this.#upstream.close();
    this.#on.ended(ending.kind === 'disconnected' ? { ...ending, killed: end.killed } : ending);
  }

  #closeSession(ending: Ending): void {
    this.session.close((sent) => callErrorFor(this.#spec.name, ending, sent));
  }

  #logNoise(line: Buffer | undefined): void {
    if (line === undefined) return;
    this.#noise.push(line);
    this.#noise.push(NEWLINE);
  }

  #log(source: LinkLog['source'], text: string): void {
    this.#deps.log({ source, text: this.#deps.redact(text) });
  }
}
