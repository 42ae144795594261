import * as json from './json-table.js';
import { skipString } from './string-skip.js';
import { Utf8Check } from './utf8-check.js';

/** Offsets into the whole text. The key includes its quotes; the value may include spaces after it. */
export interface Member {
  keyStart: number;
  keyEnd: number;
  start: number;
  end: number;
}

/** Deeper than any sane message; JSON.stringify and others fail near 5,000. */
export const MAX_DEPTH = 1000;
/** `jsonrpc`, `id` and `result`. */
const MOST_MEMBERS = 3;
/** More keys than any result of MCP has. */
const MOST_INNER_KEYS = 64;

/**
 * Checks one JSON object in pieces, as JSON.parse would, and keeps only the offsets of its members. Written by hand: a
 * large result would otherwise be decoded, parsed and serialised again. It runs while the pieces arrive, so that nothing
 * else waits for it.
 *
 * It is stricter than JSON.parse: no byte order mark, no line breaks, at most `MAX_DEPTH` levels, and no more members than
 * a reply has. JSON.parse accepts everything that it accepts.
 */
export class JsonScan {
  readonly #members: Member[] = [];
  readonly #innerKeys: number[] = [];
  readonly #utf8 = new Utf8Check();
  /** For each open object or array, what closes it. */
  readonly #open = new Uint8Array(MAX_DEPTH);
  #depth = 0;
  #state: number = json.START;
  /** The size of all earlier pieces. */
  #offset = 0;

  push(piece: Buffer): void {
    if (this.#state !== json.BROKEN) {
      this.#utf8.push(piece);
      this.#state = this.#utf8.isValid ? this.#scan(piece) : json.BROKEN;
    }
    this.#offset += piece.length;
  }

  /** The members of the object; undefined where it is invalid, incomplete, or has more members than a reply. */
  end(): readonly Member[] | undefined {
    return this.#state === json.DONE && this.#utf8.end() ? this.#members : undefined;
  }

  /** Where the keys of the objects inside begin; undefined where there are more than `MOST_INNER_KEYS`. */
  get innerKeys(): readonly number[] | undefined {
    return this.#innerKeys.length > MOST_INNER_KEYS ? undefined : this.#innerKeys;
  }

  /** The state after the piece. One loop, since it runs for every byte of a long line. */
  #scan(piece: Buffer): number {
    const { length } = piece;
    const view = new DataView(piece.buffer, piece.byteOffset, length);
    let state = this.#state;
    for (let at = 0; at < length; at += 1) {
      if (state === json.IN_STRING) {
        at = skipString(piece, view, at);
        if (at === length) break;
      }
      state = json.TABLE[(state << 8) | piece[at]!]!;
      if (state >= json.FIRST_ACTION) state = this.#act(state, piece[at]!, this.#offset + at);
      if (state === json.BROKEN) break;
    }
    return state;
  }

  /** Small enough for V8 to inline into the loop: rare actions are in `#actOutside`. */
  #act(action: number, byte: number, at: number): number {
    switch (action) {
      case json.OPEN_OBJECT:
        if (!this.#enter(json.CLOSE_OBJECT)) return json.BROKEN;
        return this.#depth > 2 ? json.KEY_OR_END : this.#depth === 2 ? json.INNER_KEY_OR_END : json.TOP_KEY;
      case json.OPEN_ARRAY:
        return this.#enter(json.CLOSE_ARRAY) ? json.VALUE_OR_END : json.BROKEN;
      case json.COMMA:
        if (this.#depth <= 2) return this.#outerComma(at);
        return this.#open[this.#depth - 1] === json.CLOSE_OBJECT ? json.KEY : json.VALUE;
      case json.CLOSE_OBJECT:
      case json.CLOSE_ARRAY:
        return this.#leave(action, at);
      default:
        return this.#actOutside(action, byte, at);
    }
  }

  /** Actions in the outermost object, and in the objects that are its values. */
  #actOutside(action: number, byte: number, at: number): number {
    switch (action) {
      case json.BEGIN_TOP_KEY:
        this.#members.push({ keyStart: at, keyEnd: at, start: at, end: at });
        return this.#members.length > MOST_MEMBERS ? json.BROKEN : json.IN_TOP_KEY;
      case json.END_TOP_KEY:
        this.#members.at(-1)!.keyEnd = at + 1;
        return json.TOP_COLON;
      case json.BEGIN_INNER_KEY:
        if (this.#innerKeys.length <= MOST_INNER_KEYS) this.#innerKeys.push(at);
        return json.IN_KEY;
      default: {
        this.#members.at(-1)!.start = at;
        const next = json.TABLE[(json.VALUE << 8) | byte]!;
        return next < json.FIRST_ACTION ? next : this.#act(next, byte, at);
      }
    }
  }

  #outerComma(at: number): number {
    if (this.#depth === 1) return this.#endMember(at, json.TOP_KEY);
    return this.#open[1] === json.CLOSE_OBJECT ? json.INNER_KEY : json.VALUE;
  }

  #enter(close: number): boolean {
    if (this.#depth === MAX_DEPTH) return false;
    this.#open[this.#depth] = close;
    this.#depth += 1;
    return true;
  }

  #leave(close: number, at: number): number {
    if (this.#open[this.#depth - 1] !== close) return json.BROKEN;
    this.#depth -= 1;
    return this.#depth === 0 ? this.#endMember(at, json.DONE) : json.COMMA_OR_END;
  }

  #endMember(at: number, next: number): number {
    this.#members.at(-1)!.end = at;
    return next;
  }
}
