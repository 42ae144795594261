import { isObject } from '../../shared/json.js';
import { characterStart } from '../../shared/text/cut-text.js';
import { matchingLines } from './matching-lines.js';

export interface PageParams {
  offset?: number | undefined;
  limit?: number | undefined;
  pointer?: string | undefined;
  match?: string | undefined;
}

/** The part of a kept text that an agent asked for, or what is wrong with its question. */
export type TextPage = { text: string } | { problem: string };

/** What is paged. `note`: where it is, as far as the agent has not named it. */
type TextPart = { text: string; note: string } | { problem: string };

const DEFAULT_LIMIT = 20_000;
/** A longer text is not parsed for a pointer: the daemon would answer no call meanwhile. */
const MOST_PARSED = 16 * 2 ** 20;

/**
 * One page of a text: of all of it, of what a JSON pointer names, or of the lines that have a text. The last line says
 * which characters these are, and where the next page begins.
 */
export function pageOfText(whole: string, asked: PageParams, most: number): TextPage {
  const part: TextPart =
    asked.pointer === undefined ? { text: whole, note: '' } : partAt(whole, asked.pointer);
  if ('problem' in part) return part;
  const text = asked.match === undefined ? part.text : matchingLines(part.text, asked.match);
  if (text === '' && asked.match !== undefined) return { text: `no line has ${JSON.stringify(asked.match)}` };
  const { offset = 0, limit = DEFAULT_LIMIT } = asked;
  if (offset > text.length)
    return { problem: `offset ${offset} is after the end: ${text.length} characters` };
  const from = characterStart(text, offset);
  const end = characterStart(text, Math.min(text.length, from + Math.max(1, Math.min(limit, most))));
  const to = end > from ? end : Math.min(text.length, from + 2);
  const rest = to < text.length ? `; next: offset ${to}` : '; this is the end';
  return {
    text: `${text.slice(from, to)}\n[characters ${from} to ${to} of ${text.length}${part.note}${rest}]`,
  };
}

/** RFC 6901. A text is given as it is, any other value as JSON. */
function partAt(whole: string, pointer: string): TextPart {
  if (pointer !== '' && !pointer.startsWith('/')) return { problem: "'pointer' must begin with /" };
  if (whole.length > MOST_PARSED)
    return {
      problem: `the result has ${whole.length} characters: too long for 'pointer'; use offset or match`,
    };
  const json = jsonOf(whole);
  if (json === undefined)
    return { problem: "the result is no JSON: use offset or match instead of 'pointer'" };
  let { value } = json;
  let place = '';
  for (const word of pointer.split('/').slice(1)) {
    const key = word.replaceAll('~1', '/').replaceAll('~0', '~');
    if (!has(value, key)) return { problem: `nothing is at ${place}/${word}; ${keysOf(value, place)}` };
    value = (value as Record<string, unknown>)[key];
    place = `${place}/${word}`;
  }
  const text = typeof value === 'string' ? value : written(value);
  return text === undefined
    ? { problem: `${place === '' ? 'the result' : place} is nested too deep: use offset or match instead` }
    : { text, note: json.note };
}

/** Undefined where it is nested deeper than the stack is. */
function written(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, null, 1);
  } catch {
    return undefined;
  }
}

/** Structured content that is not what the text says is the last line of the kept text. */
function jsonOf(whole: string): { value: unknown; note: string } | undefined {
  const all = parsed(whole);
  if (all !== undefined) return { value: all, note: '' };
  const structure = parsed(whole.slice(whole.lastIndexOf('\n') + 1));
  return isObject(structure) ? { value: structure, note: ', in the JSON of the last line' } : undefined;
}

/** Undefined where it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function has(value: unknown, key: string): boolean {
  if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(key) && Number(key) < value.length;
  return isObject(value) && Object.hasOwn(value, key);
}

const MOST_KEYS = 20;

function keysOf(value: unknown, place: string): string {
  const where = place === '' ? 'the result' : place;
  if (Array.isArray(value)) return `${where} is a list of ${value.length}`;
  if (!isObject(value)) return `${where} has no parts`;
  const keys = Object.keys(value);
  return `${where} has: ${keys.slice(0, MOST_KEYS).join(', ')}${keys.length > MOST_KEYS ? ', …' : ''}`;
}
