import { abortReason, onAbort } from '../../shared/async.js';
import type { MCPError } from '../../shared/call-errors.js';
import type { CallSink, Outcome } from '../../shared/call-sink.js';
import type { Clock } from '../../shared/clock.js';
import type { LongLine, OversizedLine } from '../../shared/framing/framer.js';
import type { JsonObject } from '../../shared/json.js';
import {
  Call,
  type CallHandle,
  type CallLimits,
  type CallOptions,
  type CallOwner,
  type CallRequest,
  turnOf,
} from './call.js';
import { CallsById } from './calls-by-id.js';
import { Deadlines } from './deadlines.js';
import { FairQueue } from './fair-queue.js';
import { type AnswerInput, InputRetries } from './input-retries.js';
import type { Message } from './message.js';
import { cancelled, overloaded, timedOut, unavailable, unwritable } from './refusals.js';
import { FIRST_CALL_ID, ReplyRouter, type StrayCounts } from './reply-router.js';
import { cancelLine, requestLine } from './request-line.js';
import { SessionUse } from './session-use.js';
import { UnansweredCalls } from './unanswered-calls.js';

/** Writes lines to the server. It never throws. */
export interface Wire {
  /** False while the server takes no more; calls then wait in the session, where they can still be cancelled unsent. */
  readonly ready: boolean;
  /** False when the line was refused: the server gets no byte of it. */
  write(line: string): boolean;
}

export interface SessionOptions extends CallLimits {
  /** The server's name, for messages. */
  name: string;
  /** Which incarnation of the server this is. */
  incarnation?: number | undefined;
  wire: Wire;
  clock: Clock;
  maxInFlight: number;
  maxWaiting?: number | undefined;
  maxWaitingBytes?: number | undefined;
  /** Handles a result by which the server asks for more first. Absent where the protocol has no such results. */
  inputRequired?: AnswerInput | undefined;
  /** A message that belongs to no call, and its line, where it came as a line. */
  other(message: Message, line: Buffer | undefined): void;
  /** A message of this kind reached no call; `count` did so far. */
  strayed?(kind: keyof StrayCounts, count: number): void;
  /** A sink threw: a bug of toolherd, which must not reach other calls. */
  fault(error: unknown): void;
}

/** The `_meta` of a request, which may depend on whether its agent can answer questions. */
export type Envelope = (sink: Pick<CallSink, 'ask'>) => JsonObject;

/**
 * The calls of one incarnation: `open` → `sealed` (no new ones; those in flight may finish) → `closed`.
 *
 * Every accepted call settles exactly once. A request is written at most once. A reply reaches a call only if that call
 * was written and has not settled, so a reply with a guessed, repeated or old id reaches none.
 */
export class Session {
  readonly name: string;
  readonly incarnation: number;
  readonly #options: SessionOptions;
  readonly #clock: Clock;
  readonly #inFlight = new CallsById();
  readonly #inputRetries: InputRetries;
  readonly #use: SessionUse;
  readonly #unanswered = new UnansweredCalls();
  readonly #waiting = new FairQueue<Call>();
  readonly #deadlines: Deadlines<Call>;
  readonly #replies: ReplyRouter;
  readonly #owner: CallOwner;
  #state: 'open' | 'sealed' | 'closed' = 'open';
  #nextId = FIRST_CALL_ID;
  #lastReceivedAt = 0;
  #pumping = false;
  /** The `_meta` of every request; known when the handshake is done. */
  #envelope: Envelope | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.name = options.name;
    this.incarnation = options.incarnation ?? 1;
    this.#clock = options.clock;
    this.#deadlines = new Deadlines(options.clock, (call) => this.#expire(call));
    this.#use = new SessionUse(options.clock);
    this.#inputRetries = new InputRetries({
      resend: (call, params) => this.#resend(call, params),
      fail: (call, error) => this.#fail(call, error),
    });
    const { timeoutMs, maxTimeoutMs } = options;
    this.#owner = {
      timeoutMs,
      maxTimeoutMs,
      cancel: (call, reason) => this.#cancel(call, reason),
      restartTimeout: (call) => this.#restartTimeout(call),
    };
    this.#replies = new ReplyRouter({
      name: options.name,
      inFlight: this.#inFlight,
      passesRaw: () => options.inputRequired === undefined,
      settle: (call, outcome) => {
        const { inputRequired } = options;
        if (inputRequired !== undefined && outcome.ok && outcome.result.resultType === 'input_required')
          this.#askForInput(call, outcome.result, inputRequired);
        else this.#settle(call, outcome);
      },
      late: (id) => this.#unanswered.answered(id),
      progress: (call, progress) => this.#progress(call, progress),
      other: options.other,
      strayed: (kind, count) => options.strayed?.(kind, count),
    });
  }

  get state(): 'open' | 'sealed' | 'closed' {
    return this.#state;
  }

  /** Requests that were sent and have no outcome. */
  get inFlight(): number {
    return this.#inFlight.size + this.#inputRetries.size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** `inFlight` without toolherd's own requests. */
  get callsInFlight(): number {
    return this.inFlight - this.#use.ownInFlight;
  }

  /** Whether a call waits or is in flight. Toolherd's own requests do not count. */
  get isInUse(): boolean {
    return this.inFlight + this.waiting > this.#use.ownRequests;
  }

  /** Counts of messages that reached no call. */
  get strays(): Readonly<StrayCounts> {
    return this.#replies.counts;
  }

  /** Calls the server is working on. */
  get running(): Iterable<Call> {
    return this.#inFlight.all();
  }

  /** Calls without an outcome: with the server, with their agent for more input, and waiting. Not toolherd's own requests. */
  get unsettled(): Call[] {
    const all = [...this.#inFlight.all(), ...this.#inputRetries.all(), ...this.#waiting.all()];
    return all.filter(({ isOwn }) => !isOwn);
  }

  /** Callers of calls that ended without a reply: the server may still work on them. */
  get unansweredCallers(): ReadonlySet<string> {
    return this.#unanswered.callers;
  }

  /** When a call last began, progressed or settled. */
  get lastActivityAt(): number {
    return this.#use.lastActivityAt;
  }

  /** A call as a promise, with a signal that cancels it. */
  call(method: string, params?: JsonObject, options: CallOptions = {}): Promise<JsonObject> {
    const { signal, onProgress, ...limits } = options;
    const reason = () => abortReason(signal) ?? String(signal?.reason);
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(cancelled(this.name, false, reason()));
        return;
      }
      let stopListening: (() => void) | undefined;
      const settle = (outcome: Outcome) => {
        stopListening?.();
        if (outcome.ok) resolve(outcome.result);
        else reject(outcome.error);
      };
      const handle = this.send({ method, params, ...limits }, { settle, progress: onProgress });
      if (handle !== undefined) stopListening = onAbort(signal, () => handle.cancel(reason()));
    });
  }

  /** Undefined when the call was refused; its sink was settled with the reason. */
  send(request: CallRequest, sink: CallSink): CallHandle | undefined {
    sink.routed?.(this.incarnation);
    const refusal = this.#refusal(request);
    if (refusal !== undefined) return this.#settleSink(sink, { ok: false, error: refusal });
    const id = this.#nextId;
    let line: string;
    try {
      const { method, params } = request;
      line = requestLine(id, method, params, sink.progress !== undefined, this.#envelope?.(sink));
    } catch (cause) {
      return this.#settleSink(sink, { ok: false, error: unwritable(this.name, request.method, cause) });
    }
    this.#nextId += 1;
    const now = this.#clock.now();
    const call = new Call(id, line, request, sink, this.#owner, now);
    this.#use.began(call, now);
    // with a free slot the call skips the queue
    if (this.#waiting.size === 0 && this.#hasSlot) this.#write(call);
    else {
      this.#waiting.push(call);
      this.#pump();
    }
    // after the write, so that the server begins sooner
    if (call.state !== 'settled') this.#deadlines.add(call);
    return call;
  }

  /** Adds this to the `_meta` of every request. Called before the wire is ready: waiting requests are written anew. */
  useEnvelope(envelope: JsonObject | Envelope): void {
    this.#envelope = typeof envelope === 'function' ? envelope : () => envelope;
    for (const call of this.#waiting.takeAll()) {
      call.line = this.#lineOf(call, call.params);
      this.#waiting.push(call);
    }
  }

  /** The wire takes lines again. */
  resume(): void {
    this.#pump();
  }

  /** When any byte of the server last came; the clock's time. */
  get lastReceivedAt(): number {
    return this.#lastReceivedAt;
  }

  /** Bytes of the server came, perhaps of an incomplete message. */
  noteReceived(): void {
    this.#lastReceivedAt = this.#clock.now();
  }

  /** One line from the server. */
  deliver(bytes: Buffer): void {
    this.noteReceived();
    this.#replies.deliver(bytes);
  }

  /** A long line begins. Undefined where it has to be delivered whole. */
  deliverLong(): LongLine | undefined {
    this.noteReceived();
    return this.#replies.long();
  }

  /** A message that came as an object, not as a line. */
  deliverParsed(raw: unknown): void {
    this.noteReceived();
    this.#replies.deliverParsed(raw);
  }

  /** The request or its reply got lost. False where no such call is in flight. */
  lose(id: number, error: MCPError): boolean {
    const call = this.#inFlight.get(id);
    if (call !== undefined) this.#fail(call, error);
    return call !== undefined;
  }

  /** As `lose`, for a reply that came and was too large to keep: the server has finished the call. */
  loseReply(id: number, error: MCPError): boolean {
    const call = this.#inFlight.get(id);
    if (call !== undefined) this.#settle(call, { ok: false, error });
    return call !== undefined;
  }

  /** A line over the size limit. True when it was the reply to a call. */
  deliverOversized(line: OversizedLine): boolean {
    this.noteReceived();
    return this.#replies.deliverOversized(line);
  }

  /** No new calls. Waiting calls fail unsent, so that another replica can serve them. */
  seal(): void {
    if (this.#state !== 'open') return;
    this.#state = 'sealed';
    for (const call of this.#waiting.takeAll()) this.#fail(call, unavailable(this.name));
  }

  /** Fails the waiting calls that may not be sent any more. */
  withdraw(refusalOf: (call: Call) => MCPError | undefined): void {
    const waiting = this.#waiting.takeAll();
    for (const call of waiting) this.#waiting.push(call);
    for (const call of waiting) {
      const refusal = refusalOf(call);
      if (refusal !== undefined) this.#fail(call, refusal);
    }
  }

  /** The end: every call without an outcome fails now, each with the error made for it. */
  close(errorFor: (sent: boolean) => MCPError): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    const left = [...this.#inFlight.all(), ...this.#inputRetries.all(), ...this.#waiting.takeAll()];
    for (const call of left) this.#settle(call, { ok: false, error: errorFor(call.wasSent) });
    this.#deadlines.clear();
  }

  #refusal(request: CallRequest): MCPError | undefined {
    if (this.#state !== 'open') return unavailable(this.name);
    const { size, bytes } = this.#waiting;
    const { maxWaiting = 10_000, maxWaitingBytes = 64 * 2 ** 20 } = this.#options;
    if (size < maxWaiting && bytes < maxWaitingBytes) return undefined;
    // a caller without a waiting call is still accepted: other callers filled the queue
    if (this.#waiting.sizeOf(turnOf(request)) === 0) return undefined;
    return overloaded(this.name, size, this.#options.wire.ready);
  }

  get #hasSlot(): boolean {
    const { wire, maxInFlight } = this.#options;
    return this.#state === 'open' && this.#inFlight.size < maxInFlight && wire.ready;
  }

  #write(call: Call): void {
    call.state = 'sent';
    this.#inFlight.add(call);
    if (!this.#options.wire.write(call.line)) this.#fail(call, unavailable(this.name));
  }

  #pump(): void {
    // a refused line settles its call, which calls #pump again: one loop is enough
    if (this.#pumping || this.#waiting.size === 0) return;
    this.#pumping = true;
    while (this.#hasSlot) {
      const call = this.#waiting.shift();
      if (call === undefined) break;
      this.#write(call);
    }
    this.#pumping = false;
  }

  #askForInput(call: Call, result: JsonObject, answer: AnswerInput): void {
    this.#inFlight.delete(call);
    this.#inputRetries.begin(call, result, answer);
    this.#pump();
  }

  /** Under a new id: the first request ended without a final result. */
  #resend(call: Call, params: JsonObject): void {
    call.id = this.#nextId;
    this.#nextId += 1;
    try {
      call.line = this.#lineOf(call, params);
    } catch (cause) {
      this.#fail(call, unwritable(this.name, call.method, cause, true));
      return;
    }
    call.state = 'sent';
    this.#inFlight.add(call);
    if (!this.#options.wire.write(call.line)) this.#fail(call, unavailable(this.name, true));
  }

  #lineOf(call: Call, params: JsonObject | undefined): string {
    const { id, method, sink } = call;
    return requestLine(id, method, params, sink.progress !== undefined, this.#envelope?.(sink));
  }

  #progress(call: Call, progress: JsonObject): void {
    call.extend(this.#use.progressed());
    try {
      call.sink.progress?.(progress);
    } catch (error) {
      this.#options.fault(error);
    }
  }

  #restartTimeout(call: Call): void {
    this.#deadlines.remove(call);
    call.extend(this.#clock.now());
    this.#deadlines.add(call);
  }

  #expire(call: Call): void {
    if (call.state === 'settled') return;
    const error = timedOut(this.name, call);
    if (call.state === 'sent') this.#options.wire.write(cancelLine(call.id, 'timeout'));
    this.#fail(call, error);
  }

  #cancel(call: Call, reason: string): void {
    if (call.state === 'settled') return;
    if (call.state === 'sent') this.#options.wire.write(cancelLine(call.id, reason));
    this.#fail(call, cancelled(this.name, call.wasSent, reason));
  }

  /** The call ends without a reply while the server lives: the server may still work on it. */
  #fail(call: Call, error: MCPError): void {
    const { id, caller } = call;
    if (error.sent && caller !== undefined && this.#inFlight.get(id) === call)
      this.#unanswered.add(id, caller);
    this.#settle(call, { ok: false, error });
  }

  #settle(call: Call, outcome: Outcome): void {
    if (call.state === 'settled') return;
    if (call.state === 'waiting') this.#waiting.remove(call);
    else if (call.state === 'sent') this.#inFlight.delete(call);
    else this.#inputRetries.delete(call);
    call.end();
    // first of all: the caller does not wait for the bookkeeping below
    this.#settleSink(call.sink, outcome);
    this.#deadlines.remove(call);
    this.#use.ended(call);
    this.#pump();
  }

  #settleSink(sink: CallSink, outcome: Outcome): undefined {
    try {
      sink.settle(outcome);
    } catch (error) {
      this.#options.fault(error);
    }
  }
}
