import { hideInProse } from '../../shared/secrets/hide-secrets.js';
import { CONTROL_CHARACTERS, withoutEscapes } from '../../shared/text/control-characters.js';

const MOST_LINES = 5;
const MOST_CHARACTERS = 600;
const LONGEST_LINE = 200;
/** How much of a line is matched: a pattern may take long on a longer one. */
const LOOKED_AT = 1000;

/** Node and Python mark the position in a source line, which is the line above this. */
const CARET = /^\s*[\^~]+\s*$/;
/** Python: a stack frame; the line below is its source line, if there is one. */
const FRAME = /^ {2}File ".*", line \d+/;
const FRAME_SOURCE = /^ {4}/;

/** Lines that programs print around the one that matters. */
const NOISE: readonly RegExp[] = [
  /^\s*$/,
  /^npm (warn|notice|info|http)\b/i,
  /^npm (error|ERR!)( \d+| \w+)?\s*$/,
  /^npm (error|ERR!) A complete log of this run/,
  /^npm (error|ERR!) (404 Note that you can|404 tarball, folder|notarget In most cases|If you are behind a proxy)/,
  /^npm (error|ERR!) +(at |[\w']+: .*,?$|})/,
  CARET,
  FRAME,
  // Node: the place, frames, the properties of the error, its version
  /^(file:\/\/|node:|\/)\S*:\d+$/,
  /^\s+at .*(\(.*\)|:\d+)( \{)?$/,
  /^\s+(at async |code: |errno: |syscall: |address: |port: |path: |requireStack: |\[cause\])/,
  /^\s*[[\]{}()]+,?$/,
  /^Node\.js v\d/,
  /^Emitted 'error' event on/,
  /^Require stack:$/,
  /^- \/.*\.[cm]?js$/,
  /^Traceback \(most recent call last\):$/,
  /^Run 'docker run --help' for more information/,
  /^See 'docker run --help'/,
];

const ERROR =
  /error|exception|fatal|panic|fail|cannot|can't|could not|unable|missing|require|must|not (found|set|defined|provided|installed|supported)|denied|refused|invalid|no such|unsupported|please (provide|set|specify)|usage:|✗|❌/i;
const NO_ERROR = /^\W*(warn|warning|info|debug|deprecat)/i;

export interface FailureLines {
  /** All lines without noise; the noise where there is nothing else. */
  text: string;
  /** No line says why the program failed: there is only noise, or no output. */
  onlyNoise: boolean;
  /** From the last line that looks like an error on; from the last line where none does. */
  lastError: string;
  /** The few lines to show: those that look like errors, then the last. */
  shown: string;
}

/** The last output of a program, without control characters, secrets (`redact` knows the declared ones) and noise. */
export function failureLines(
  output: string,
  redact: (text: string) => string = (text) => text,
): FailureLines {
  // redacted twice: before cleaning, since a secret may hold a tab, and after, since a colour code may split a secret
  const all = redact(clean(redact(output)))
    .split('\n')
    .map((line) => hideInProse(beginningOf(line)));
  const isSource = (line: string, index: number) =>
    CARET.test(all[index + 1] ?? '') || (FRAME_SOURCE.test(line) && FRAME.test(all[index - 1] ?? ''));
  const isNoise = (line: string) => NOISE.some((pattern) => pattern.test(line));
  const telling = all.filter((line, index) => !isNoise(line) && !isSource(line, index));
  const onlyNoise = telling.length === 0;
  const lines = onlyNoise ? all.filter((line) => line.trim() !== '') : telling;
  const errors = lines.flatMap((line, index) => (ERROR.test(line) && !NO_ERROR.test(line) ? [index] : []));
  return {
    text: lines.join('\n'),
    onlyNoise,
    lastError: lines.slice(errors.at(-1) ?? -1).join('\n'),
    shown: fitting(chosen(lines, errors)),
  };
}

function clean(output: string): string {
  const plain = withoutEscapes(output).replaceAll('\r\n', '\n');
  return plain.replaceAll(CONTROL_CHARACTERS, (character) => (character === '\n' ? '\n' : ' '));
}

/** Cut at a space: half a secret would not be recognised. */
function beginningOf(line: string): string {
  return line.length > LOOKED_AT ? `${line.slice(0, line.lastIndexOf(' ', LOOKED_AT) + 1)}…` : line;
}

function chosen(lines: readonly string[], errors: readonly number[]): string[] {
  const kept = new Set(errors.slice(-MOST_LINES));
  for (let index = lines.length - 1; index >= 0 && kept.size < MOST_LINES; index -= 1) kept.add(index);
  return lines.filter((_, index) => kept.has(index));
}

/** As many of the last lines as fit. */
function fitting(lines: readonly string[]): string {
  let left = MOST_CHARACTERS;
  const fitted: string[] = [];
  for (const line of lines.toReversed()) {
    const short = cut(line.trimEnd(), LONGEST_LINE);
    left -= short.length + 1;
    if (left < 0) break;
    fitted.unshift(short);
  }
  return fitted.join('\n');
}

function cut(line: string, most: number): string {
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
