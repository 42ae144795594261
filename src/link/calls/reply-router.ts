import { isUtf8 } from 'node:buffer';
import type { Outcome } from '../../shared/call-sink.js';
import {
  EDGE_BYTES,
  joined,
  LONG_BYTES,
  type LongLine,
  type OversizedLine,
} from '../../shared/framing/framer.js';
import { isObject, type JsonObject } from '../../shared/json.js';
import type { Call } from './call.js';
import type { CallsById } from './calls-by-id.js';
import { classifyMessage, type Id, type Message, readMessage } from './message.js';
import { ParsedOutcome, RawOutcome } from './outcome.js';
import { type RawReply, ReplyScan } from './raw/reply-scan.js';
import { answered, misanswered, tooLarge } from './refusals.js';
import { replyIds, resultSource } from './reply-source.js';

/**
 * Ids of calls begin here; smaller ones belong to the SDK's client (handshake, ping). The ranges never overlap, and a
 * server that keeps ids in 32 bits has room for a thousand million calls.
 */
export const FIRST_CALL_ID = 2 ** 30;

/**
 * The longest line that is parsed unless it is the result of a call: parsed into small objects it takes fifty times its
 * bytes. Clients have the same limit for a line, so no legitimate message is longer.
 */
const MOST_PARSED = 8 * 2 ** 20;

/** Counts of messages that reached no call. */
export interface StrayCounts {
  replies: number;
  progress: number;
  broken: number;
  oversized: number;
}

export interface ReplyRouterPorts {
  /** The server's name, for messages. */
  name: string;
  /** Calls that were written and have not settled: the router can reach no other call. */
  inFlight: Pick<CallsById, 'get' | 'all'>;
  /** Whether results may pass unparsed: not where a result may ask for input. */
  passesRaw(): boolean;
  settle(call: Call, outcome: Outcome): void;
  /** A reply to no call in flight, perhaps to one that has ended. */
  late(id: number): void;
  progress(call: Call, progress: JsonObject): void;
  other(message: Message, line: Buffer | undefined): void;
  /** A message of this kind reached no call; `count` did so far. */
  strayed?(kind: keyof StrayCounts, count: number): void;
}

/** Finds the call that a line of the server belongs to. Of a long reply only the id is read where its sink accepts bytes. */
export class ReplyRouter {
  readonly counts: StrayCounts = { replies: 0, progress: 0, broken: 0, oversized: 0 };
  readonly #ports: ReplyRouterPorts;

  constructor(ports: ReplyRouterPorts) {
    this.#ports = ports;
  }

  deliver(bytes: Buffer): void {
    const line = bytes.length < LONG_BYTES ? undefined : this.long();
    line?.push(bytes);
    if (line !== undefined) line.end([bytes]);
    else if (bytes.length <= MOST_PARSED) this.#route(readMessage(bytes), bytes);
    else this.#scanned(scanned(bytes), [bytes]);
  }

  /** Takes a long line in pieces. Undefined where it would be parsed anyway. */
  long(): LongLine | undefined {
    if (!this.#isRawWanted) return undefined;
    const scan = new ReplyScan();
    return { push: (piece) => scan.push(piece), end: (pieces) => this.#scanned(scan.end(pieces), pieces) };
  }

  /** A message that came as an object, not as a line. */
  deliverParsed(raw: unknown): void {
    this.#route(classifyMessage(raw), undefined);
  }

  /** True when the line was the reply to a call. */
  deliverOversized(line: OversizedLine): boolean {
    const ids = replyIds(line.head, line.tail);
    const call = this.#onlyCall(ids);
    if (call === undefined) this.#stray('oversized', ids);
    else this.#ports.settle(call, { ok: false, error: tooLarge(this.#ports.name, call, line.bytes) });
    return call !== undefined;
  }

  get #isRawWanted(): boolean {
    const { passesRaw, inFlight } = this.#ports;
    if (!passesRaw()) return false;
    return inFlight.all().some(({ sink }) => sink.acceptsRaw);
  }

  #scanned(reply: RawReply | undefined, pieces: readonly Buffer[]): void {
    const call = reply && this.#ports.inFlight.get(reply.id);
    if (reply !== undefined && call?.sink.acceptsRaw) {
      this.#ports.settle(call, new RawOutcome(reply.result, reply.isError));
    } else if (reply !== undefined && call === undefined && reply.id >= FIRST_CALL_ID) {
      this.#stray('replies', [reply.id]);
    } else {
      const line = joined(pieces);
      if (call !== undefined || line.length <= MOST_PARSED) this.#route(readMessage(line), line);
      else this.#tooLong(line);
    }
  }

  #tooLong(line: Buffer): void {
    const [head, tail] = [line.subarray(0, EDGE_BYTES), line.subarray(-EDGE_BYTES)];
    if (isUtf8(line)) this.deliverOversized({ bytes: line.length, head, tail });
    else this.#broken(replyIds(head, tail), 'not valid UTF-8');
  }

  #route(message: Message, line: Buffer | undefined): void {
    if (message.kind === 'batch') for (const part of message.messages) this.#route(part, line);
    else if (message.kind === 'result' || message.kind === 'error') this.#reply(message, line);
    else if (message.kind === 'notification' && message.method === 'notifications/progress') {
      this.#progress(message.params);
    } else {
      if (message.kind === 'broken') this.#broken(message.ids, message.why);
      this.#ports.other(message, line);
    }
  }

  #reply(message: Extract<Message, { kind: 'result' | 'error' }>, line: Buffer | undefined): void {
    const { name, inFlight } = this.#ports;
    if (typeof message.id === 'string') {
      this.#broken([message.id], 'its id came back as a string');
      return;
    }
    const call = inFlight.get(message.id);
    if (call === undefined) {
      if (message.id < FIRST_CALL_ID) this.#ports.other(message, line);
      else this.#stray('replies', [message.id]);
    } else if (message.kind === 'result') {
      const text = this.#mayPass(call) && message.line ? resultSource(message.line, message.raw) : undefined;
      this.#ports.settle(call, new ParsedOutcome(message.result, line?.length, text));
    } else this.#ports.settle(call, { ok: false, error: answered(name, call, message.error) });
  }

  #mayPass({ sink }: Call): boolean {
    return sink.acceptsRaw === true && this.#ports.passesRaw();
  }

  #broken(ids: readonly Id[], why: string): void {
    const numbers = ids.map(Number);
    const call = this.#onlyCall(numbers);
    if (call === undefined) this.#stray('broken', numbers);
    else this.#ports.settle(call, { ok: false, error: misanswered(this.#ports.name, call, why) });
  }

  /** The one call in flight with any of these ids; undefined where there are two. */
  #onlyCall(ids: readonly number[]): Call | undefined {
    const calls = new Set<Call>();
    for (const id of ids) {
      const call = this.#ports.inFlight.get(id);
      if (call !== undefined) calls.add(call);
    }
    const [only] = calls;
    return calls.size === 1 ? only : undefined;
  }

  /** `ids`: of the replies that it may be. With two ids neither call counts as answered. */
  #stray(kind: keyof StrayCounts, ids: readonly number[] = []): void {
    const [id] = ids;
    if (id !== undefined && ids.length === 1) this.#ports.late(id);
    this.counts[kind] += 1;
    this.#ports.strayed?.(kind, this.counts[kind]);
  }

  #progress(params: JsonObject | undefined): void {
    const token = params?.progressToken;
    const call = typeof token === 'number' ? this.#ports.inFlight.get(token) : undefined;
    // a call without a progress sink has sent no token
    if (call?.sink.progress === undefined || !isObject(params) || typeof params.progress !== 'number') {
      this.#stray('progress');
      return;
    }
    const { progressToken: _, ...progress } = params;
    this.#ports.progress(call, progress);
  }
}

function scanned(line: Buffer): RawReply | undefined {
  const scan = new ReplyScan();
  scan.push(line);
  return scan.end([line]);
}
