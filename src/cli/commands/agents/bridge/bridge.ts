import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { Closing } from '../../../../fleet/closing.js';
import { readLine } from '../../../../ipc/jsonrpc/message.js';
import { MAX_LINE_BYTES } from '../../../../ipc/jsonrpc/peer.js';
import { RemoteError } from '../../../../ipc/jsonrpc/remote-error.js';
import { systemClock } from '../../../../shared/clock.js';
import { Framer, joined } from '../../../../shared/framing/framer.js';
import { headOf } from '../../../../shared/framing/message-head.js';
import { cut } from '../../../../shared/framing/raw-json.js';
import { isAlive } from '../../../../shared/is-alive.js';
import { isAbsence } from '../../../daemon/connect.js';
import {
  asLine,
  cancelLine,
  closingIn,
  failureLine,
  LIST_CHANGES,
  missedLines,
  requestText,
  updatedLine,
} from './messages.js';
import { OpenRequests } from './open-requests.js';
import { MAX_WAITING_BYTES, WaitingLines } from './waiting-lines.js';

export interface BridgeOptions {
  input: Readable;
  output: Writable;
  /** The way to a daemon that has heard hello. `start`: where none runs, one may be started. */
  open(start: boolean): Promise<Socket>;
  /** Whether the socket's name is there. A daemon that ends in order removes it; one that crashes leaves it. */
  hasSocket(): boolean;
  /** Beside the conversation, for people. */
  note(text: string): void;
}

const SPACE = 0x20;
const NEWLINE = 0x0a;
/** Enough for what the daemon puts in front of a result; an id that is longer makes the line be joined. */
const HEAD_BYTES = 65_536;
/** As much as `max_message_bytes` can allow, and what is around it. */
const MAX_REPLY_BYTES = 2 ** 31 + HEAD_BYTES;
/** Between two looks for a daemon that is gone. */
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 2000;
/** The same for one that is being replaced, and for how long its successor is waited for. */
const SUCCESSOR_WAIT_MS = 100;
const SUCCESSOR_MS = 30_000;
/** Ids of our own, for what the client must not hear the reply of. */
const OWN_ID = '"toolherd-bridge-';
/** How a client of each era begins. */
const FIRST_WORDS = ['initialize', 'server/discover'];
/** What is said of a daemon that has ended, by how. */
const WENT = { crashed: 'went away', replaced: 'was replaced', shutdown: 'was stopped' } as const;
const STOPPED = "the toolherd daemon was stopped ('toolherd down', or a signal); start it with: toolherd up";

const FULL = `requests of ${MAX_WAITING_BYTES / 2 ** 20} MiB wait for the next toolherd daemon already; try again later`;

interface Refusal {
  type: string;
  retryable?: boolean;
}
const NOT_RUNNING: Refusal = { type: 'DaemonNotRunningError' };

/** How the last daemon ended, or will: `crashed` until it says otherwise. */
type DaemonEnd = { reason: 'crashed' } | Closing;

/**
 * Lines from stdin to the daemon and back. Whole lines, so that a daemon which dies in the middle of one leaves no half
 * of it with the client. When the daemon is gone, what was in flight is answered with an error; the next daemon hears
 * what the client said at its beginning. Whether the next request starts a daemon depends on how the last one ended:
 *
 * - crashed: yes;
 * - replaced: requests wait for the successor. One that dies, or takes too long, counts as crashed; one that refuses this
 *   bridge refuses its requests;
 * - shut down: no. Requests are refused until a daemon serves again, which the user, or another client, has to start.
 */
export class Bridge {
  readonly #options: BridgeOptions;
  readonly #ledger = new OpenRequests();
  readonly #waiting = new WaitingLines();
  #socket: Socket | undefined;
  #state: 'open' | 'ending' = 'open';
  #daemonEnd: DaemonEnd = { reason: 'crashed' };
  #wake: () => void = () => {};
  #finish: () => void = () => {};
  #ownIds = 0;

  constructor(options: BridgeOptions) {
    this.#options = options;
  }

  /** Resolves when stdin has ended and everything is answered. */
  async run(socket: Socket): Promise<void> {
    const { input } = this.#options;
    const finished = new Promise<void>((resolve) => {
      this.#finish = resolve;
    });
    const lines = new Framer(MAX_LINE_BYTES, {
      line: (line) => this.#fromClient(line),
      // the daemon would refuse it in the same words
      tooLong: () => this.#toClient(failureLine('null', `a line of more than ${MAX_LINE_BYTES} bytes`)),
    });
    this.#attach(socket);
    input.on('data', (chunk: Buffer) => lines.push(chunk));
    input.once('end', () => {
      // the last line may have no newline
      lines.push(Buffer.from('\n'));
      this.#end();
    });
    await finished;
  }

  #end(): void {
    this.#state = 'ending';
    if (this.#socket !== undefined) this.#socket.end();
    else if (this.#waiting.isEmpty) this.#finish();
    this.#wake();
  }

  #fromClient(line: Buffer): void {
    const whole = asLine(line);
    const socket = this.#socket;
    if (socket === undefined) {
      this.#keep(whole);
      this.#options.input.pause();
      this.#wake();
    } else if (this.#daemonEnd.reason !== 'crashed' && this.#isForNext(line)) {
      if (this.#daemonEnd.reason === 'shutdown') this.#refuse([whole], STOPPED, NOT_RUNNING);
      else this.#keep(whole);
    } else this.#toDaemon(socket, whole);
  }

  /** For the next daemon. */
  #keep(line: Buffer): void {
    if (!this.#waiting.add(line)) this.#refuse([line], FULL, { type: 'OverloadedError' });
  }

  /** A daemon that ends still hears answers, and cancellations of what it was asked; requests are for the next one. */
  #isForNext(line: Buffer): boolean {
    const read = readLine(line);
    return (Array.isArray(read) ? read : [read]).some(
      (message) =>
        message.kind === 'request' || (message.kind === 'cancel' && !this.#ledger.asked.has(message.target)),
    );
  }

  #toDaemon(socket: Socket, line: Buffer): void {
    this.#ledger.sent(line);
    if (socket.write(line)) return;
    this.#options.input.pause();
    onceDrained(socket, () => this.#options.input.resume());
  }

  #toClient(line: Buffer): boolean {
    return this.#options.output.write(line);
  }

  #attach(socket: Socket): void {
    this.#socket = socket;
    this.#daemonEnd = { reason: 'crashed' };
    const lines = new Framer(MAX_REPLY_BYTES, {
      line: (line) => this.#fromDaemon(socket, [line]),
      long: () => ({ push: () => undefined, end: (pieces) => this.#fromDaemon(socket, pieces) }),
      tooLong: () => socket.destroy(),
    });
    let isInLine = false;
    socket.on('data', (chunk: Buffer) => {
      // how the daemon finds out whether anybody is left to be answered; never in the middle of a line
      if (this.#state === 'ending' && !isInLine && isProbe(chunk)) this.#toClient(chunk);
      else {
        lines.push(chunk);
        isInLine = chunk.at(-1) !== NEWLINE;
      }
    });
    socket.once('close', () => this.#lost());
    socket.resume();
    // it may have gone while nobody listened
    if (socket.closed) {
      setImmediate(() => this.#lost());
      return;
    }
    for (const line of this.#waiting.takeAll()) this.#toDaemon(socket, line);
    if (this.#state === 'ending') socket.end();
    else this.#options.input.resume();
  }

  /** A long line is passed on in the pieces it came in: only the head of it is read. */
  #fromDaemon(socket: Socket, line: readonly Buffer[]): void {
    const pieces = withoutProbes(line);
    const begin = joined(cut(pieces, 0, HEAD_BYTES));
    const closing = closingIn(begin);
    if (closing !== undefined) {
      this.#daemonEnd = closing;
      return;
    }
    const known = headOf(begin) === undefined ? joined(pieces) : begin;
    this.#ledger.came(known);
    if (headOf(known)?.id.startsWith(OWN_ID)) return;
    for (const piece of pieces.slice(0, -1)) this.#toClient(piece);
    if (pieces.slice(-1).every((last) => this.#toClient(asLine(last)))) return;
    socket.pause();
    onceDrained(this.#options.output, () => socket.resume());
  }

  #lost(): void {
    this.#socket = undefined;
    // a connection that breaks while we write to it loses the daemon's last words
    if (this.#daemonEnd.reason === 'crashed' && !this.#options.hasSocket())
      this.#daemonEnd = { reason: 'shutdown' };
    this.#failOpen();
    // it may have been held up by a socket that takes nothing any more
    if (this.#state === 'open' && this.#waiting.isEmpty) this.#options.input.resume();
    if (this.#state === 'ending' && this.#waiting.isEmpty) this.#finish();
    else void this.#reconnect();
  }

  /** The first handshake is made with the next daemon instead; everything else may have run. */
  #failOpen(): void {
    const { asked, questions, standing } = this.#ledger;
    for (const [id, request] of asked) {
      const { method } = request;
      if (FIRST_WORDS.includes(method) && !this.#ledger.isInitialized && this.#state === 'open') {
        this.#waiting.putFirst(asLine(Buffer.from(requestText(request))));
        this.#ledger.remembered.delete(method);
      } else if (!id.startsWith(OWN_ID) && !standing.includes(request)) {
        this.#toClient(
          failureLine(
            id,
            `the toolherd daemon ${WENT[this.#daemonEnd.reason]} while ${method} was in flight; it may have run and was not repeated`,
            { type: 'ConnectionLostError', retryable: false, sent: true },
          ),
        );
      }
    }
    for (const id of questions) this.#toClient(cancelLine(id));
    this.#ledger.lost();
  }

  async #reconnect(): Promise<void> {
    const deadline = systemClock.now() + SUCCESSOR_MS;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      const isWanted = !this.#waiting.isEmpty;
      const { reason } = this.#daemonEndBy(deadline);
      try {
        this.#resume(await this.#options.open(isWanted && reason === 'crashed'));
        return;
      } catch (error) {
        const isToCome = reason === 'replaced' && isAbsence(error);
        if (isWanted && !isToCome) this.#refuseWaiting(error as Error);
        // what came during a look that was not to start anything deserves one that is
        else if (!this.#waiting.isEmpty && !isToCome) continue;
      }
      if (this.#state === 'ending' && this.#waiting.isEmpty) {
        this.#finish();
        return;
      }
      await this.#pause(reason === 'replaced' ? SUCCESSOR_WAIT_MS : waitMs);
    }
  }

  /** How the last daemon ended, by now: a successor that is gone, or took too long, is not waited for. */
  #daemonEndBy(deadline: number): DaemonEnd {
    const end = this.#daemonEnd;
    const isOver = () => systemClock.now() > deadline;
    if (end.reason === 'replaced' && (isOver() || !isAlive(end.successor)))
      this.#daemonEnd = { reason: 'crashed' };
    return this.#daemonEnd;
  }

  #resume(socket: Socket): void {
    this.#options.note('toolherd bridge: connected to the daemon again');
    const { remembered, isInitialized, standing, subscribed } = this.#ledger;
    for (const { method, params } of remembered.values()) this.#say(socket, method, params);
    if (isInitialized) this.#say(socket, 'notifications/initialized');
    for (const request of standing) socket.write(`${requestText(request)}\n`);
    this.#attach(socket);
    // the next daemon may have another config, and nobody knows what changed meanwhile
    if (isInitialized) for (const line of LIST_CHANGES) this.#toClient(line);
    for (const uri of subscribed) this.#toClient(updatedLine(uri));
    for (const request of standing) for (const line of missedLines(request)) this.#toClient(line);
  }

  /** What the client said once, in its name; the reply is for nobody. */
  #say(socket: Socket, method: string, params?: unknown): void {
    const isRequest = !method.startsWith('notifications/');
    const id = isRequest ? `"id":${OWN_ID}${++this.#ownIds}",` : '';
    const tail = params === undefined ? '' : `,"params":${JSON.stringify(params)}`;
    socket.write(`{"jsonrpc":"2.0",${id}"method":"${method}"${tail}}\n`);
  }

  #refuseWaiting(error: Error & { fix?: string }): void {
    const lines = this.#waiting.takeAll();
    const text = [error.message, error.fix].filter(Boolean).join('; ');
    if (this.#daemonEnd.reason === 'shutdown' && isAbsence(error)) this.#refuse(lines, STOPPED, NOT_RUNNING);
    else if (error instanceof RemoteError)
      this.#refuse(lines, `the toolherd daemon refuses this bridge: ${text}`, error);
    else
      this.#refuse(lines, `the toolherd daemon cannot be reached: ${text}`, {
        type: 'DaemonUnreachableError',
      });
    this.#options.input.resume();
  }

  #refuse(lines: readonly Buffer[], why: string, { type, retryable = true }: Refusal): void {
    const ledger = new OpenRequests();
    for (const line of lines) ledger.sent(line);
    for (const [id, { method }] of ledger.asked) {
      const message = `${method} was not sent, because ${why}`;
      this.#toClient(failureLine(id, message, { type, retryable, sent: false }));
    }
  }

  /** Until it is time for the next look, or the client has something to say. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function isProbe(chunk: Buffer): boolean {
  return chunk.length === 1 && chunk[0] === SPACE;
}

/** A probe may have come in one piece with the line behind it. */
function withoutProbes(line: readonly Buffer[]): readonly Buffer[] {
  const [first] = line;
  if (first?.[0] !== SPACE) return line;
  const start = first.findIndex((byte) => byte !== SPACE);
  return start === -1 ? withoutProbes(line.slice(1)) : [first.subarray(start), ...line.slice(1)];
}

/** One listener, however many lines wait. */
function onceDrained(stream: Writable, run: () => void): void {
  if (stream.listenerCount('drain') === 0) stream.once('drain', run);
}
