import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { Closing } from '../../../../fleet/events.js';
import { readLine } from '../../../../ipc/jsonrpc/message.js';
import { MAX_LINE_BYTES } from '../../../../ipc/jsonrpc/peer.js';
import { RemoteError } from '../../../../ipc/jsonrpc/remote-error.js';
import { isAlive } from '../../../../processes/is-alive.js';
import { systemClock } from '../../../../shared/clock.js';
import { Framer, joined } from '../../../../shared/framing/framer.js';
import { headOf } from '../../../../shared/framing/message-head.js';
import { cut } from '../../../../shared/framing/raw-json.js';
import { isDaemonAbsent } from '../../../daemon/connect.js';
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
  /** A connection to the daemon, after its hello. `start`: whether it may start a daemon. */
  open(start: boolean): Promise<Socket>;
  /** Whether the socket file exists. A daemon removes it when it shuts down; a crash leaves it. */
  hasSocket(): boolean;
  /** A line for people, on stderr. */
  note(text: string): void;
}

const SPACE = 0x20;
const NEWLINE = 0x0a;
/** Enough for everything in front of a result. If the id is longer, the pieces of the line are joined. */
const HEAD_BYTES = 65_536;
/** The largest `max_message_bytes`, and the message around it. */
const MAX_REPLY_BYTES = 2 ** 31 + HEAD_BYTES;
/** Pause between two attempts to reach a daemon that has ended: it doubles. */
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 2000;
/** The same for a daemon that is being replaced, and the longest wait for its successor. */
const SUCCESSOR_WAIT_MS = 100;
const SUCCESSOR_MS = 30_000;
/** Ids of the bridge's own requests: the client must not get their replies. */
const OWN_ID = '"toolherd-bridge-';
/** The first request of a client, in each version of the protocol. */
const FIRST_METHODS = ['initialize', 'server/discover'];
/** How the last daemon ended, for error messages. */
const ENDED = { crashed: 'went away', replaced: 'was replaced', shutdown: 'was stopped' } as const;
const STOPPED = "the toolherd daemon was stopped ('toolherd down', or a signal); start it with: toolherd up";

const FULL = `requests of ${MAX_WAITING_BYTES / 2 ** 20} MiB wait for the next toolherd daemon already; try again later`;

interface Refusal {
  type: string;
  retryable?: boolean;
}
const NOT_RUNNING: Refusal = { type: 'DaemonNotRunningError' };

/** How the last daemon ended, or will: `crashed` until it sends a closing notice. */
type DaemonEnd = { reason: 'crashed' } | Closing;

/**
 * Passes lines from stdin to the daemon and back. Only whole lines, so that a daemon that dies in the middle of one leaves
 * no half line with the client. When the daemon ends, requests in flight get an error, and the bridge repeats the client's
 * handshake for the next daemon. How the last daemon ended decides whether the next request starts a daemon:
 *
 * - crashed: yes;
 * - replaced: requests wait for the successor. A successor that dies, or takes too long, counts as crashed; one that refuses
 *   this bridge refuses its requests;
 * - shut down: no. Requests are refused until the user, or another client, has started a daemon.
 */
export class Bridge {
  readonly #options: BridgeOptions;
  readonly #requests = new OpenRequests();
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
      // the same error as from the daemon
      tooLong: () => this.#toClient(failureLine('null', `a line of more than ${MAX_LINE_BYTES} bytes`)),
    });
    this.#attach(socket);
    input.on('data', (chunk: Buffer) => inOneWrite(this.#socket, () => lines.push(chunk)));
    input.once('end', () => {
      // the last line may lack its newline
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

  /** Keeps a line for the next daemon. */
  #keep(line: Buffer): void {
    if (!this.#waiting.add(line)) this.#refuse([line], FULL, { type: 'OverloadedError' });
  }

  /** A daemon that is ending still gets replies, and cancellations of its requests. New requests are for the next daemon. */
  #isForNext(line: Buffer): boolean {
    const read = readLine(line);
    return (Array.isArray(read) ? read : [read]).some(
      (message) =>
        message.kind === 'request' ||
        (message.kind === 'cancel' && !this.#requests.asked.has(message.target)),
    );
  }

  #toDaemon(socket: Socket, line: Buffer): void {
    this.#requests.sent(line);
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
      // the daemon writes a space, never inside a line, to find out whether the client still reads
      if (this.#state === 'ending' && !isInLine && isProbe(chunk)) this.#toClient(chunk);
      else {
        inOneWrite(this.#options.output, () => lines.push(chunk));
        isInLine = chunk.at(-1) !== NEWLINE;
      }
    });
    socket.once('close', () => this.#lost());
    socket.resume();
    // it may have closed before the listener was set
    if (socket.closed) {
      setImmediate(() => this.#lost());
      return;
    }
    for (const line of this.#waiting.takeAll()) this.#toDaemon(socket, line);
    if (this.#state === 'ending') socket.end();
    else this.#options.input.resume();
  }

  /** Passes a long line on in the pieces it came in, and reads only its head. */
  #fromDaemon(socket: Socket, line: readonly Buffer[]): void {
    const pieces = withoutProbes(line);
    const begin = joined(cut(pieces, 0, HEAD_BYTES));
    const closing = closingIn(begin);
    if (closing !== undefined) {
      this.#daemonEnd = closing;
      return;
    }
    const known = headOf(begin) === undefined ? joined(pieces) : begin;
    this.#requests.came(known);
    if (headOf(known)?.id.startsWith(OWN_ID)) return;
    for (const piece of pieces.slice(0, -1)) this.#toClient(piece);
    if (pieces.slice(-1).every((last) => this.#toClient(asLine(last)))) return;
    socket.pause();
    onceDrained(this.#options.output, () => socket.resume());
  }

  #lost(): void {
    this.#socket = undefined;
    // a connection that breaks during a write loses the daemon's closing notice
    if (this.#daemonEnd.reason === 'crashed' && !this.#options.hasSocket())
      this.#daemonEnd = { reason: 'shutdown' };
    this.#failOpen();
    // the input may be paused because the lost socket was full
    if (this.#state === 'open' && this.#waiting.isEmpty) this.#options.input.resume();
    if (this.#state === 'ending' && this.#waiting.isEmpty) this.#finish();
    else void this.#reconnect();
  }

  /** Fails the requests in flight, which may have run. Only the first handshake is repeated with the next daemon. */
  #failOpen(): void {
    const { asked, questions, standing } = this.#requests;
    for (const [id, request] of asked) {
      const { method } = request;
      if (FIRST_METHODS.includes(method) && !this.#requests.isInitialized && this.#state === 'open') {
        this.#waiting.putFirst(asLine(Buffer.from(requestText(request))));
        this.#requests.remembered.delete(method);
      } else if (!id.startsWith(OWN_ID) && !standing.includes(request)) {
        this.#toClient(
          failureLine(
            id,
            `the toolherd daemon ${ENDED[this.#daemonEnd.reason]} while ${method} was in flight; it may have run and was not repeated`,
            { type: 'ConnectionLostError', retryable: false, sent: true },
          ),
        );
      }
    }
    for (const id of questions) this.#toClient(cancelLine(id));
    this.#requests.lost();
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
        const isToCome = reason === 'replaced' && isDaemonAbsent(error);
        if (isWanted && !isToCome) this.#refuseWaiting(error as Error);
        // a request came during an attempt that was not to start a daemon: try again
        else if (!this.#waiting.isEmpty && !isToCome) continue;
      }
      if (this.#state === 'ending' && this.#waiting.isEmpty) {
        this.#finish();
        return;
      }
      await this.#pause(reason === 'replaced' ? SUCCESSOR_WAIT_MS : waitMs);
    }
  }

  /** How the last daemon ended. A successor that has died, or takes too long, counts as crashed. */
  #daemonEndBy(deadline: number): DaemonEnd {
    const end = this.#daemonEnd;
    const isOver = () => systemClock.now() > deadline;
    if (end.reason === 'replaced' && (isOver() || !isAlive(end.successor)))
      this.#daemonEnd = { reason: 'crashed' };
    return this.#daemonEnd;
  }

  #resume(socket: Socket): void {
    this.#options.note('toolherd bridge: connected to the daemon again');
    const { remembered, isInitialized, standing, subscribed } = this.#requests;
    for (const { method, params } of remembered.values()) this.#say(socket, method, params);
    if (isInitialized) this.#say(socket, 'notifications/initialized');
    for (const request of standing) socket.write(`${requestText(request)}\n`);
    this.#attach(socket);
    // the next daemon may have another config: the client should read all lists again
    if (isInitialized) for (const line of LIST_CHANGES) this.#toClient(line);
    for (const uri of subscribed) this.#toClient(updatedLine(uri));
    for (const request of standing) for (const line of missedLines(request)) this.#toClient(line);
  }

  /** Repeats a message of the client; the bridge drops the reply. */
  #say(socket: Socket, method: string, params?: unknown): void {
    const isRequest = !method.startsWith('notifications/');
    const id = isRequest ? `"id":${OWN_ID}${++this.#ownIds}",` : '';
    const tail = params === undefined ? '' : `,"params":${JSON.stringify(params)}`;
    socket.write(`{"jsonrpc":"2.0",${id}"method":"${method}"${tail}}\n`);
  }

  #refuseWaiting(error: Error & { fix?: string }): void {
    const lines = this.#waiting.takeAll();
    const text = [error.message, error.fix].filter(Boolean).join('; ');
    if (this.#daemonEnd.reason === 'shutdown' && isDaemonAbsent(error))
      this.#refuse(lines, STOPPED, NOT_RUNNING);
    else if (error instanceof RemoteError)
      this.#refuse(lines, `the toolherd daemon refuses this bridge: ${text}`, error);
    else
      this.#refuse(lines, `the toolherd daemon cannot be reached: ${text}`, {
        type: 'DaemonUnreachableError',
      });
    this.#options.input.resume();
  }

  #refuse(lines: readonly Buffer[], why: string, { type, retryable = true }: Refusal): void {
    const refused = new OpenRequests();
    for (const line of lines) refused.sent(line);
    for (const [id, { method }] of refused.asked) {
      const message = `${method} was not sent, because ${why}`;
      this.#toClient(failureLine(id, message, { type, retryable, sent: false }));
    }
  }

  /** Waits for the next attempt, or until the client sends something. */
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

/** The lines of one chunk go out in one system call: with 64 calls in flight a call takes the bridge 8 µs instead of 13. */
function inOneWrite(output: Writable | undefined, work: () => void): void {
  output?.cork();
  work();
  output?.uncork();
}

function isProbe(chunk: Buffer): boolean {
  return chunk.length === 1 && chunk[0] === SPACE;
}

/** A probe may come in one chunk with the line behind it. */
function withoutProbes(line: readonly Buffer[]): readonly Buffer[] {
  const [first] = line;
  if (first?.[0] !== SPACE) return line;
  const start = first.findIndex((byte) => byte !== SPACE);
  return start === -1 ? withoutProbes(line.slice(1)) : [first.subarray(start), ...line.slice(1)];
}

/** At most one listener, however many lines wait. */
function onceDrained(stream: Writable, run: () => void): void {
  if (stream.listenerCount('drain') === 0) stream.once('drain', run);
}
