import { characterStart } from '../../shared/text/cut-text.js';

/** Of a longer line, such as JSON without spaces, only what is around each match is shown. */
const LONG_LINE = 2000;
const AROUND = 200;
/** Characters. An agent that wants more can read the whole text. */
const MOST_FOUND = 2 ** 20;
const MORE = '… there are more: search for a longer text';

type Range = [from: number, to: number];

/**
 * The lines of a text that have another text, each with its number; the first is 1. Upper and lower case count as equal.
 * The daemon answers no call meanwhile, and a result may have 64 MiB: so lines are looked at only where they match.
 */
export function matchingLines(text: string, match: string): string {
  const folded = fold(text);
  const wanted = fold(match);
  const found: string[] = [];
  let length = 0;
  let number = 1;
  let from = 0;
  for (let at = wanted.includes('\n') ? -1 : folded.indexOf(wanted); at !== -1; ) {
    for (let end = text.indexOf('\n', from); end !== -1 && end < at; end = text.indexOf('\n', from)) {
      from = end + 1;
      number += 1;
    }
    const end = text.indexOf('\n', at);
    const to = end === -1 ? text.length : end;
    const isShort = to - from <= LONG_LINE || wanted === '';
    for (const [begin, stop] of isShort ? [[from, to] as Range] : around(text, folded, wanted, [from, to])) {
      found.push(`${isShort ? number : `${number}, at offset ${begin}`}: ${text.slice(begin, stop)}`);
      length += stop - begin;
      if (length > MOST_FOUND) return [...found, MORE].join('\n');
    }
    at = to === text.length ? -1 : folded.indexOf(wanted, to + 1);
  }
  return found.join('\n');
}

/** The parts of a line that have the text, with what is around it. Parts that meet are one. */
function* around(text: string, folded: string, wanted: string, [from, to]: Range): Generator<Range> {
  let part: Range | undefined;
  for (let at = folded.indexOf(wanted, from); at !== -1 && at < to; ) {
    const begin = characterStart(text, Math.max(from, at - AROUND));
    const end = characterStart(text, Math.min(to, at + wanted.length + AROUND));
    if (part !== undefined && begin <= part[1] && end - part[0] <= MOST_FOUND) part[1] = end;
    else {
      if (part !== undefined) yield part;
      part = [part === undefined ? begin : Math.max(begin, part[1]), end];
    }
    at = folded.indexOf(wanted, at + wanted.length);
  }
  if (part !== undefined) yield part;
}

/** In lower case, with as many code units as before: `İ` alone would become two. */
function fold(text: string): string {
  return text.replaceAll('İ', 'i').toLowerCase();
}
