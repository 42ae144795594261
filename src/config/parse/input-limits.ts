import { Lexer } from 'yaml';

/**
 * Checks a YAML text before it is parsed. The parser recurses: some 850 bytes of `[[[[…` abort the whole process, and
 * try/catch cannot prevent it. The lexer is linear and does not recurse, so depth and size are measured on its tokens,
 * and reading stops at the first token over a limit.
 */
export const LIMITS = {
  bytes: 1024 * 1024,
  depth: 64,
  tokens: 50_000,
  aliases: 100,
  badEscapes: 20,
} as const;

export interface TextProblem {
  message: string;
  fix: string;
  /** The offset at which the limit was exceeded. */
  offset: number;
}

export const TOO_DEEP = {
  message: `Nested deeper than ${LIMITS.depth} levels`,
  fix: 'flatten this part of the file',
} as const;

export const TOO_LARGE = {
  message: 'The file is larger than 1 MiB',
  fix: 'make it smaller; servers of a project can be in the agent.yaml of the project',
} as const;

/** An escape that the parser knows; or else a lone backslash. */
const ESCAPE =
  /\\(?:[0abefnrtvNLP_ \t"/\\]|\r?\n|x[\da-fA-F]{2}|u[\da-fA-F]{4}|U00(?:0[\da-fA-F]|10)[\da-fA-F]{4})|\\/g;

const BAD_ESCAPES = {
  message: `More than ${LIMITS.badEscapes} unknown \\ escapes`,
  fix: 'write \\\\ for a backslash, or use single quotes',
} as const;

/** `Nesting` may count a level twice; the exact depth is checked on the parsed tree. */
const DEPTH_BOUND = LIMITS.depth * 2;

export function checkText(text: string): TextProblem | undefined {
  if (Buffer.byteLength(text) > LIMITS.bytes) return { ...TOO_LARGE, offset: 0 };
  let tokens = 0;
  let aliases = 0;
  let badEscapes = 0;
  let offset = 0;
  const nesting = new Nesting();
  for (const token of new Lexer().lex(text)) {
    const isMarker = token.length === 1 && '\x02\x18\x1f'.includes(token);
    if (isMarker) continue;
    nesting.see(token);
    if (token.startsWith('*')) aliases++;
    if (token.startsWith('"')) badEscapes += countBadEscapes(token);
    if (nesting.depth > DEPTH_BOUND) return { ...TOO_DEEP, offset };
    if (aliases > LIMITS.aliases) {
      return { message: `More than ${LIMITS.aliases} aliases`, fix: 'write the repeated parts out', offset };
    }
    if (badEscapes > LIMITS.badEscapes) return { ...BAD_ESCAPES, offset };
    if (++tokens > LIMITS.tokens) {
      return { message: `More than ${LIMITS.tokens} YAML tokens`, fix: TOO_LARGE.fix, offset };
    }
    offset += token.length;
  }
  return undefined;
}

/** The parser reports each bad escape: half a million fit into one string and cost it ten seconds. */
function countBadEscapes(token: string): number {
  let count = 0;
  for (const [found] of token.matchAll(ESCAPE)) {
    if (found.length === 1 && ++count > LIMITS.badEscapes) break;
  }
  return count;
}

/**
 * An upper bound of the depth. Flow collections nest by brackets. Block collections nest by column: content to the
 * right of its parent is one level deeper, for `- - - x` as well as for indentation.
 */
class Nesting {
  #flow = 0;
  #column = 0;
  #afterKey = false;
  readonly #columns: number[] = [];

  get depth(): number {
    return this.#flow + this.#columns.length;
  }

  see(token: string): void {
    const first = token[0] ?? '';
    if (!' \t\n\r#'.includes(first)) this.#content(token, first);
    const newline = token.lastIndexOf('\n');
    this.#column = newline === -1 ? this.#column + token.length : token.length - newline - 1;
    if (newline !== -1) this.#afterKey = false;
  }

  #content(token: string, first: string): void {
    // The colon after a key opens no level; a colon without a key does.
    const isColonOfKey = token === ':' && this.#afterKey;
    if (this.#flow === 0 && !isColonOfKey) this.#enter(this.#column);
    if (first === '[' || first === '{') this.#flow++;
    else if ((first === ']' || first === '}') && this.#flow > 0) this.#flow--;
    this.#afterKey = token !== '-' && token !== '?' && token !== ':';
  }

  #enter(column: number): void {
    while (this.#columns.length > 0 && this.#columns[this.#columns.length - 1]! >= column)
      this.#columns.pop();
    this.#columns.push(column);
  }
}
