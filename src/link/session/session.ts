import type { MCPError } from '../../shared/call-errors.js';
import type { Clock } from '../../shared/clock.js';
import type { LongLine, OversizedLine } from '../../shared/framing/framer.js';
import type { JsonObject } from '../../shared/json.js';
import {
  Call,
  type CallHandle,
  type CallHome,
  type CallOptions,
  type CallRequest,
  type CallSink,
  type Limits,
  type Outcome,
} from './call.js';
import { Deadlines } from './deadlines.js';
import { FairQueue } from './fair-queue.js';
import { InFlight } from './in-flight.js';
import type { Message } from './message.js';
import { promisedCall } from './promised-call.js';
import { cancelled, overloaded, timedOut, unavailable, unwritable } from './refusals.js';
import { FIRST_CALL_ID, ReplyRouter, type StrayCounts } from './reply-router.js';
import { cancelLine, requestLine } from './request-line.js';
import { UnansweredCalls } from './unanswered-calls.js';

/** Where lines go. It never throws. */
export interface Wire {
  /** False while the other side takes no more; calls then wait in the session, where they can still be taken back. */
  readonly ready: boolean;
  /** False when the line was refused: not a byte of it will reach the server. */
  write(line: string): boolean;
}

export interface SessionOptions extends Limits {
  /** The server's name, for messages. */
  name: string;
  /** Which life of the server this is. */
  incarnation?: number | undefined;
  wire: Wire;
  clock: Clock;
  maxInFlight: number;
  maxWaiting?: number | undefined;
  maxWaitingBytes?: number | undefined;
  /**
   * A result that is none yet: the server wants to know more first (`input_required`). Resolves with what is added to
   * the params of the next try; rejects with the call's error. Absent where the protocol has no such results.
   */
  inputRequired?: ((call: Call, result: JsonObject) => Promise<JsonObject>) | undefined;
  /** Whatever a server sends that belongs to no call, and the line it came in, if it came in one. */
  other(message: Message, line: Buffer | undefined): void;
  /** Something of this kind reached nobody; so many did so far. */
  strayed?(kind: keyof StrayCounts, count: number): void;
  /** A sink threw: a fault of ours, which must not reach other calls. */
  fault(error: unknown): void;
}

/** What a request says of itself, which may depend on whether somebody can be asked on its behalf. */
export type Envelope = (sink: Pick<CallSink, 'ask'>) => JsonObject;

/**
 * The calls of one incarnation: `open` → `sealed` (no new ones; those in flight may finish) → `closed`.
 *
 * Every call that is accepted settles exactly once. A request is written at most once and never again. A reply
 * reaches a call only if that call was written and has not settled, so an id that was guessed, repeated or left over
 * reaches nobody.
 */
export class Session {
  readonly name: string;
  readonly incarnation: number;
  readonly #options: SessionOptions;
  readonly #clock: Clock;
  readonly #inFlight = new InFlight();
  /** Those that the server will only go on with when it knows more. It waits for no reply, so none can reach them. */
  readonly #asking = new Set<Call>();
  /** Requests of toolherd itself that have no outcome yet. */
  readonly #own = new Set<Call>();
  readonly #unanswered = new UnansweredCalls();
  readonly #waiting = new FairQueue<Call>();
  readonly #deadlines: Deadlines<Call>;
  readonly #inbox: ReplyRouter;
  readonly #home: CallHome;
  #state: 'open' | 'sealed' | 'closed' = 'open';
  #nextId = FIRST_CALL_ID;
  #accepted = 0;
  #lastActivityAt: number;
  #heardAt = 0;
  #pumping = false;
  /** What every request says of itself; known when the handshake is done. */
  #envelope: Envelope | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.name = options.name;
    this.incarnation = options.incarnation ?? 1;
    this.#clock = options.clock;
    this.#deadlines = new Deadlines(options.clock, (call) => this.#expire(call));
    this.#lastActivityAt = options.clock.now();
    const { timeoutMs, maxTimeoutMs } = options;
    this.#home = { timeoutMs, maxTimeoutMs, takeBack: (call, reason) => this.#cancel(call, reason) };
    this.#inbox = new ReplyRouter({
      name: options.name,
      inFlight: this.#inFlight,
      passesRaw: () => options.inputRequired === undefined,
      settle: (call, outcome) => this.#answered(call, outcome),
      late: (id) => this.#unanswered.answered(id),
      progress: (call, progress) => this.#progress(call, progress),
      other: options.other,
      strayed: (kind, count) => options.strayed?.(kind, count),
    });
  }

  get state(): 'open' | 'sealed' | 'closed' {
    return this.#state;
  }

  /** Requests the server knows of. */
  get inFlight(): number {
    return this.#inFlight.size + this.#asking.size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** `inFlight` without what toolherd asks for itself. */
  get callsInFlight(): number {
    let calls = this.inFlight;
    for (const { state } of this.#own) if (state === 'sent') calls -= 1;
    return calls;
  }

  /** A call waits or is in flight. What toolherd asks for itself is none. */
  get isInUse(): boolean {
    return this.inFlight + this.waiting > this.#own.size;
  }

  /** Calls accepted so far. */
  get accepted(): number {
    return this.#accepted;
  }

  /** What the server sent that reached nobody. */
  get strays(): Readonly<StrayCounts> {
    return this.#inbox.counts;
  }

  /** Calls the server is working on. */
  get running(): Iterable<Call> {
    return this.#inFlight.all();
  }

  /** Callers whose calls ended without an answer of the server: it may still be working on them. */
  get unansweredCallers(): ReadonlySet<string> {
    return this.#unanswered.callers;
  }

  /** When a call last came, progressed or settled. Looked at when an idle timer fires, so a call costs no event. */
  get lastActivityAt(): number {
    return this.#lastActivityAt;
  }

  call(method: string, params?: JsonObject, options: CallOptions = {}): Promise<JsonObject> {
    return promisedCall(this, method, params, options);
  }

  /** Undefined when the call was refused; its sink knows why. */
  send(request: CallRequest, sink: CallSink): CallHandle | undefined {
    const refusal = this.#refusal(request);
    if (refusal !== undefined) return this.#tell(sink, { ok: false, error: refusal });
    const id = this.#nextId;
    let line: string;
    try {
      const { method, params } = request;
      line = requestLine(id, method, params, sink.progress !== undefined, this.#envelope?.(sink));
    } catch (cause) {
      return this.#tell(sink, { ok: false, error: unwritable(this.name, request.method, cause) });
    }
    this.#nextId += 1;
    this.#accepted += 1;
    const now = this.#clock.now();
    const call = new Call(id, line, request, sink, this.#home, now);
    if (call.isOwn) this.#own.add(call);
    else this.#lastActivityAt = now;
    // who need not wait does not stand in line
    if (this.#waiting.size === 0 && this.#hasPlace) this.#write(call);
    else {
      this.#waiting.push(call);
      this.#pump();
    }
    // after it was written, where it was: the server has begun with it meanwhile
    if (call.state !== 'settled') this.#deadlines.add(call);
    return call;
  }

  /** From now on every request says this of itself. To be told before the wire is ready: what waits is told anew. */
  speak(envelope: JsonObject | Envelope): void {
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

  /** When the server was last heard; the clock's time. */
  get heardAt(): number {
    return this.#heardAt;
  }

  /** Something of the server came, be it not whole yet. */
  heard(): void {
    this.#heardAt = this.#clock.now();
  }

  /** One line from the server. */
  deliver(bytes: Buffer): void {
    this.heard();
    this.#inbox.deliver(bytes);
  }

  /** A long line begins; undefined where it is to be delivered whole. */
  deliverLong(): LongLine | undefined {
    this.heard();
    return this.#inbox.long();
  }

  /** A message that came as an object, not as a line. */
  deliverParsed(raw: unknown): void {
    this.heard();
    this.#inbox.deliverParsed(raw);
  }

  /** The server waits for us, not we for it: only the hard limit of this call counts, until `release`. */
  hold(call: Call): void {
    call.hold();
  }

  /** It is the server's turn again. */
  release(call: Call): void {
    if (call.state === 'settled') return;
    this.#deadlines.remove(call);
    call.release(this.#clock.now());
    this.#deadlines.add(call);
  }

  /** This request got lost on its way, or its reply did. False when no such call is in flight. */
  lose(id: number, error: MCPError): boolean {
    const call = this.#inFlight.get(id);
    if (call !== undefined) this.#fail(call, error);
    return call !== undefined;
  }

  /** The reply to this request came and could not be kept: the server works on it no more. Otherwise as `lose`. */
  loseReply(id: number, error: MCPError): boolean {
    const call = this.#inFlight.get(id);
    if (call !== undefined) this.#settle(call, { ok: false, error });
    return call !== undefined;
  }

  /** A line that was too long to keep. True when it was the reply to a call. */
  deliverOversized(line: OversizedLine): boolean {
    this.heard();
    return this.#inbox.deliverOversized(line);
  }

  /** No new calls. Those that wait are given back unsent, so that somebody else may serve them. */
  seal(): void {
    if (this.#state !== 'open') return;
    this.#state = 'sealed';
    for (const call of this.#waiting.takeAll()) this.#fail(call, unavailable(this.name));
  }

  /** Those that wait and may not be sent any more are told so. */
  withdraw(refusalOf: (call: Call) => MCPError | undefined): void {
    const waiting = this.#waiting.takeAll();
    for (const call of waiting) this.#waiting.push(call);
    for (const call of waiting) {
      const refusal = refusalOf(call);
      if (refusal !== undefined) this.#fail(call, refusal);
    }
  }

  /** The end: whatever is left fails now, each with the error made for it. */
  close(errorFor: (sent: boolean) => MCPError): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    const left = [...this.#inFlight.all(), ...this.#asking, ...this.#waiting.takeAll()];
    for (const call of left) this.#settle(call, { ok: false, error: errorFor(call.state === 'sent') });
    this.#deadlines.clear();
  }

  #refusal({ caller }: CallRequest): MCPError | undefined {
    if (this.#state !== 'open') return unavailable(this.name);
    const { size, bytes } = this.#waiting;
    const { maxWaiting = 10_000, maxWaitingBytes = 64 * 2 ** 20 } = this.#options;
    if (size < maxWaiting && bytes < maxWaitingBytes) return undefined;
    // who has nothing waiting yet is let in all the same: the crowd is another's
    if (this.#waiting.sizeOf(caller) === 0) return undefined;
    return overloaded(this.name, size, this.#options.wire.ready);
  }

  get #hasPlace(): boolean {
    const { wire, maxInFlight } = this.#options;
    return this.#state === 'open' && this.#inFlight.size < maxInFlight && wire.ready;
  }

  #write(call: Call): void {
    call.state = 'sent';
    this.#inFlight.add(call);
    if (!this.#options.wire.write(call.line)) this.#fail(call, unavailable(this.name));
  }

  #pump(): void {
    // a line that is refused settles its call, which comes back here: once is enough
    if (this.#pumping || this.#waiting.size === 0) return;
    this.#pumping = true;
    while (this.#hasPlace) {
      const call = this.#waiting.shift();
      if (call === undefined) break;
      this.#write(call);
    }
    this.#pumping = false;
  }

  #answered(call: Call, outcome: Outcome): void {
    const { inputRequired } = this.#options;
    if (inputRequired === undefined || !outcome.ok || outcome.result.resultType !== 'input_required') {
      this.#settle(call, outcome);
      return;
    }
    this.#inFlight.delete(call);
    this.#asking.add(call);
    this.hold(call);
    inputRequired(call, outcome.result).then(
      (added) => this.#askAgain(call, { ...call.params, ...added }),
      (error: MCPError) => this.#fail(call, error),
    );
    this.#pump();
  }

  /** The protocol's own second try, under a new id: the first has ended without having done its work. */
  #askAgain(call: Call, params: JsonObject): void {
    if (!this.#asking.delete(call)) return;
    call.id = this.#nextId;
    this.#nextId += 1;
    this.release(call);
    try {
      call.line = this.#lineOf(call, params);
    } catch (cause) {
      this.#fail(call, unwritable(this.name, call.method, cause, true));
      return;
    }
    this.#inFlight.add(call);
    if (!this.#options.wire.write(call.line)) this.#fail(call, unavailable(this.name, true));
  }

  #lineOf(call: Call, params: JsonObject | undefined): string {
    const { id, method, sink } = call;
    return requestLine(id, method, params, sink.progress !== undefined, this.#envelope?.(sink));
  }

  #progress(call: Call, progress: JsonObject): void {
    this.#lastActivityAt = this.#clock.now();
    call.extend(this.#lastActivityAt);
    try {
      call.sink.progress?.(progress);
    } catch (error) {
      this.#options.fault(error);
    }
  }

  #expire(call: Call): void {
    if (call.state === 'settled') return;
    const error = timedOut(this.name, call);
    if (error.sent && !this.#asking.has(call)) this.#options.wire.write(cancelLine(call.id, 'timeout'));
    this.#fail(call, error);
  }

  #cancel(call: Call, reason: string): void {
    if (call.state === 'settled') return;
    const sent = call.state === 'sent';
    if (sent && !this.#asking.has(call)) this.#options.wire.write(cancelLine(call.id, reason));
    this.#fail(call, cancelled(this.name, sent, reason));
  }

  /** It ends without an answer, and the server lives: it may still work on it. */
  #fail(call: Call, error: MCPError): void {
    const { id, caller } = call;
    if (error.sent && caller !== undefined && this.#inFlight.get(id) === call)
      this.#unanswered.add(id, caller);
    this.#settle(call, { ok: false, error });
  }

  #settle(call: Call, outcome: Outcome): void {
    if (call.state === 'settled') return;
    if (call.state === 'waiting') this.#waiting.remove(call);
    else if (!this.#inFlight.delete(call)) this.#asking.delete(call);
    call.end();
    // first of all: what whoever waits for it need not wait for comes after it
    this.#tell(call.sink, outcome);
    this.#deadlines.remove(call);
    if (call.isOwn) this.#own.delete(call);
    else this.#lastActivityAt = this.#clock.now();
    this.#pump();
  }

  #tell(sink: CallSink, outcome: Outcome): undefined {
    try {
      sink.settle(outcome);
    } catch (error) {
      this.#options.fault(error);
    }
  }
}
