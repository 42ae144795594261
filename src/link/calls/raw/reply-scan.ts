import { cut, RawJson } from '../../../shared/framing/raw-json.js';
import { JsonScan, type Member } from './json-scan.js';

/** A reply whose result was not parsed. */
export interface RawReply {
  id: number;
  result: RawJson;
  /** Whether the tool reports a failure; undefined where only parsing would show it. */
  isError: boolean | undefined;
}

/** Ids of toolherd are not longer, and none begins with a zero. */
const ID = /^[1-9]\d{0,15}$/;
/** Longer than any id or version, so that a value cut at this length matches neither. */
const LONGEST_VALUE = 20;
const OPEN_BRACE = '{';
/** `"jsonrpc"`, with its quotes. */
const LONGEST_KEY = 9;
const IS_ERROR = '"isError"';
/** The key with every letter escaped, a few spaces, and its value. */
const LONGEST_IS_ERROR = 64;
const IS_ERROR_MEMBER = /^("(?:[^"\\]|\\.)*")[ \t]*:[ \t]*(true)?/;

/**
 * Reads a reply while it arrives, without parsing its result. Only the plainest replies are accepted: `jsonrpc`, `id` and
 * `result`, each once and unescaped, in any order. So a client's parser cannot find another id in it. All others are left
 * to `readMessage`, which reports what is wrong with them.
 */
export class ReplyScan {
  readonly #scan = new JsonScan();

  push(piece: Buffer): void {
    this.#scan.push(piece);
  }

  /** Undefined where the line is no such reply. */
  end(pieces: readonly Buffer[]): RawReply | undefined {
    const members = new Map((this.#scan.end() ?? []).map((member) => [keyOf(pieces, member), member]));
    const [version, id, result] = ['"jsonrpc"', '"id"', '"result"'].map((key) => members.get(key));
    if (members.size !== 3 || version === undefined || id === undefined || result === undefined) {
      return undefined;
    }
    const idText = shortText(pieces, id);
    if (shortText(pieces, version) !== '"2.0"' || !ID.test(idText)) return undefined;
    if (textOf(pieces, result.start, result.start + 1) !== OPEN_BRACE) return undefined;
    // of several members the last counts, as for JSON.parse
    const flags = this.#scan.innerKeys?.map((at) => isErrorAt(pieces, at));
    const isError = flags && (flags.findLast((flag) => flag !== undefined) ?? false);
    return { id: Number(idText), result: new RawJson(cut(pieces, result.start, result.end)), isError };
  }
}

/** The value of `isError` where the member that begins here is one; undefined for any other member. */
function isErrorAt(pieces: readonly Buffer[], at: number): boolean | undefined {
  const begin = textOf(pieces, at, at + IS_ERROR.length);
  if (begin !== IS_ERROR && !begin.includes('\\')) return undefined;
  const [, key = '""', yes] = IS_ERROR_MEMBER.exec(textOf(pieces, at, at + LONGEST_IS_ERROR)) ?? [];
  // letters of the key may be escaped
  return JSON.parse(key) === 'isError' ? yes !== undefined : undefined;
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
