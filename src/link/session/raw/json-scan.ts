import * as json from './json-table.js';
import { stringSkip, WINDOW_BYTES } from './string-skip.js';
import { Utf8Check } from './utf8-check.js';

/** Offsets into the whole. The quotes of the key are within; behind the value there may be spaces. */
export interface Member {
  keyStart: number;
  keyEnd: number;
  start: number;
  end: number;
}

/** More than any sane message; JSON.stringify and others give up near 5,000. */
export const MAX_DEPTH = 1000;
/** `jsonrpc`, `id` and `result`. */
const MOST_MEMBERS = 3;
/** More than any result of MCP has. */
const MOST_INNER_KEYS = 64;

/**
 * Reads one JSON object in pieces, as JSON.parse would, and keeps nothing of it but where its members are. By hand,
 * because a large result would otherwise be decoded, parsed and written again; and it is done while the pieces arrive,
 * so that nothing else waits for it.
 *
 * It is stricter than JSON.parse: no byte order mark, no line breaks, no deeper than `MAX_DEPTH`, and no more members
 * than a reply has. What it takes, JSON.parse takes.
 */
export class JsonScan {
  readonly #members: Member[] = [];
  readonly #innerKeys: number[] = [];
  readonly #utf8 = new Utf8Check();
  readonly #strings = stringSkip();
  /** Of each open value what closes it. */
  readonly #open = new Uint8Array(MAX_DEPTH);
  #depth = 0;
  #state: number = json.START;
  /** Bytes of the pieces before. */
  #offset = 0;

  push(piece: Buffer): void {
    for (let at = 0; at < piece.length; at += WINDOW_BYTES) this.#push(piece.subarray(at, at + WINDOW_BYTES));
  }

  #push(window: Buffer): void {
    if (this.#state !== json.BROKEN) {
      this.#utf8.push(window);
      this.#state = this.#utf8.isSound ? this.#scan(window) : json.BROKEN;
    }
    this.#offset += window.length;
  }

  /** The members of the object; undefined where it is not sound, not whole, or not as simple as a reply. */
  end(): readonly Member[] | undefined {
    return this.#state === json.DONE && this.#utf8.end() ? this.#members : undefined;
  }

  /** Where the keys of the objects in it begin; undefined where there are more than anybody needs. */
  get innerKeys(): readonly number[] | undefined {
    return this.#innerKeys.length > MOST_INNER_KEYS ? undefined : this.#innerKeys;
  }

  /** The state behind the piece. One loop, since it is run for every byte that a server sends. */
  #scan(piece: Buffer): number {
    const { length } = piece;
    this.#strings.load(piece);
    let state = this.#state;
    for (let at = 0; at < length; at += 1) {
      if (state === json.IN_STRING) {
        at = this.#strings.skip(at);
        if (at === length) break;
      }
      state = json.TABLE[(state << 8) | piece[at]!]!;
      if (state >= json.FIRST_ACTION) state = this.#act(state, piece[at]!, this.#offset + at);
      if (state === json.BROKEN) break;
    }
    return state;
  }

  /** Small enough to become part of the loop: what happens a few times in a message is elsewhere. */
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

  /** In the outermost object, and in those that are its values. */
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
