import { cut, RawJson } from '../../../shared/framing/raw-json.js';
import { JsonScan, type Member } from './json-scan.js';

/** A reply of which only the id was read. */
export interface RawReply {
  id: number;
  result: RawJson;
  /** Whether the tool says that it failed; undefined where only parsing would tell. */
  isError: boolean | undefined;
}

/** No id of ours is longer, and none begins with a zero. */
const ID = /^[1-9]\d{0,15}$/;
/** Longer than an id or a version, so that one that is cut is none. */
const LONGEST_VALUE = 20;
const OPEN_BRACE = '{';
/** `"jsonrpc"`, with its quotes. */
const LONGEST_KEY = 9;
const IS_ERROR = '"isError"';
/** It with each letter as an escape, a few spaces, and its value. */
const LONGEST_VERDICT = 64;
const VERDICT = /^("(?:[^"\\]|\\.)*")[ \t]*:[ \t]*(true)?/;

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
    // of several the last counts, as for JSON.parse
    const verdicts = this.#scan.innerKeys?.map((at) => verdictAt(pieces, at));
    const isError = verdicts && (verdicts.findLast((verdict) => verdict !== undefined) ?? false);
    return { id: Number(idText), result: new RawJson(cut(pieces, result.start, result.end)), isError };
  }
}

/** What the member that begins here says of the result; undefined where it is not its business. */
function verdictAt(pieces: readonly Buffer[], at: number): boolean | undefined {
  const begin = textOf(pieces, at, at + IS_ERROR.length);
  if (begin !== IS_ERROR && !begin.includes('\\')) return undefined;
  const [, key = '""', yes] = VERDICT.exec(textOf(pieces, at, at + LONGEST_VERDICT)) ?? [];
  // a letter of it may be written as an escape
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
