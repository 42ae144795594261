import { cut, RawJson } from '../../framing/raw-json.js';
import { JsonScan, type Member } from './json-scan.js';

/** A reply of which only the id was read. */
export interface RawReply {
  id: number;
  result: RawJson;
}

/** No id of ours is longer, and none begins with a zero. */
const ID = /^[1-9]\d{0,15}$/;
/** Longer than an id or a version, so that one that is cut is none. */
const LONGEST_VALUE = 20;
const OPEN_BRACE = '{';
/** `"jsonrpc"`, with its quotes. */
const LONGEST_KEY = 9;

/**
 * Reads a reply as it arrives, its result unseen. Only the plainest replies are taken: `jsonrpc`, `id` and `result`, each
 * once and unescaped, in any order. So nothing can be in it that a client's parser would take for another id. All others
 * are left to `readMessage`, which says what is wrong with them.
 */
export class ReplyScan {
  readonly #scan = new JsonScan();

  push(piece: Buffer): void {
    this.#scan.push(piece);
  }

  /** Undefined where it is no such reply. */
  end(pieces: readonly Buffer[]): RawReply | undefined {
    const members = new Map((this.#scan.end() ?? []).map((member) => [keyOf(pieces, member), member]));
    const [version, id, result] = ['"jsonrpc"', '"id"', '"result"'].map((key) => members.get(key));
    if (members.size !== 3 || version === undefined || id === undefined || result === undefined) {
      return undefined;
    }
    const idText = shortText(pieces, id);
    if (shortText(pieces, version) !== '"2.0"' || !ID.test(idText)) return undefined;
    if (textOf(pieces, result.start, result.start + 1) !== OPEN_BRACE) return undefined;
    return { id: Number(idText), result: new RawJson(cut(pieces, result.start, result.end)) };
  }
}

function keyOf(pieces: readonly Buffer[], { keyStart, keyEnd }: Member): string {
  return keyEnd - keyStart > LONGEST_KEY ? '' : textOf(pieces, keyStart, keyEnd);
}

function shortText(pieces: readonly Buffer[], { start, end }: Member): string {
  return textOf(pieces, start, Math.min(end, start + LONGEST_VALUE)).trimEnd();
}

function textOf(pieces: readonly Buffer[], start: number, end: number): string {
  return cut(pieces, start, end)
    .map((part) => part.toString('latin1'))
    .join('');
}
