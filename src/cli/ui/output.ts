import { API_VERSION } from '../../shared/version.js';
import { escaped, printable, singleLine, truncate } from './text.js';

/** Data is written to stdout, everything else to stderr. Control characters of files and servers never reach a terminal. */
export interface Output {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  /** The width of the terminal on stdout; undefined if stdout is no terminal. */
  readonly columns: number | undefined;
  /** Data for people, in lines. Nothing with --json. `paint` adds colours on a terminal. */
  print(text: string, paint?: Paint): void;
  /** Text of a server: to a pipe byte for byte, to a terminal without control characters and with a newline. */
  printRaw(text: string): void;
  /** Binary data: to a pipe as it is; a terminal gets `words` instead. Nothing with --json. */
  printBytes(bytes: Uint8Array, words: string): void;
  /** The data for scripts. Nothing without --json. */
  json(value: Record<string, unknown>): void;
  /** One of many items for scripts, on one line. Nothing without --json. */
  jsonLine(value: Record<string, unknown>): void;
  /** Warnings and progress, on stderr. Nothing with -q. */
  note(text: string): void;
  /** A progress line, which the next one replaces and `undefined` removes. On a terminal only. */
  progress(text: string | undefined): void;
  /** For report-error.ts: the text of an error. Also with -q and --json. */
  error(text: string): void;
  /**
   * Draws on the alternate screen: each text over the last one, without flicker. `undefined` restores the terminal. Only if
   * stdout is a terminal (see `columns`).
   */
  draw(text: string | undefined, paint?: Paint): void;
}

/** Adds colours to a text without control characters. */
export type Paint = (text: string) => string;

interface Streams {
  stdout: {
    write(text: string | Uint8Array): unknown;
    isTTY?: boolean | undefined;
    columns?: number | undefined;
    rows?: number | undefined;
  };
  stderr: { write(text: string): unknown; isTTY?: boolean | undefined; columns?: number | undefined };
  /** Whether both lead to the same file or pipe, as with 2>&1. */
  readonly isOne?: boolean;
}

const CLEAR_LINE = '\r\u001B[K';
/** Switches to the alternate screen and hides the cursor, and back. */
const ENTER = '\u001B[?1049h\u001B[?25l';
const LEAVE = '\u001B[?25h\u001B[?1049l';

export function createOutput(
  streams: Streams,
  flags: { json: boolean; quiet: boolean; color?: boolean },
): Output {
  /** The last text on stdout has no newline at its end. */
  let isLineOpen = false;
  const toError = (text: string) => {
    const start = isLineOpen && streams.isOne === true ? '\n' : '';
    isLineOpen = false;
    streams.stderr.write(`${start}${printable(text)}\n`);
  };
  let isInProgress = false;
  let isDrawn = false;
  const painted = (text: string, paint: Paint | undefined) =>
    paint !== undefined && flags.color === true && streams.stdout.isTTY ? paint(text) : text;
  const toTerminal = (text: string) => (text.endsWith('\n') ? printable(text) : `${printable(text)}\n`);
  return {
    isJson: flags.json,
    isQuiet: flags.quiet,
    get columns() {
      // a terminal that does not know its width says 0
      return streams.stdout.isTTY ? streams.stdout.columns || undefined : undefined;
    },
    print: (text, paint) => void (flags.json || streams.stdout.write(`${painted(printable(text), paint)}\n`)),
    printRaw(text) {
      if (flags.json) return;
      const whole = streams.stdout.isTTY ? toTerminal(text) : text;
      isLineOpen = whole !== '' && !whole.endsWith('\n');
      streams.stdout.write(whole);
    },
    printBytes: (bytes, words) =>
      void (flags.json || streams.stdout.write(streams.stdout.isTTY ? `${printable(words)}\n` : bytes)),
    json(value) {
      if (!flags.json) return;
      const text = JSON.stringify({ api_version: API_VERSION, ...value }, null, 2);
      streams.stdout.write(`${streams.stdout.isTTY ? escaped(text) : text}\n`);
    },
    jsonLine(value) {
      if (!flags.json) return;
      const text = JSON.stringify({ api_version: API_VERSION, ...value });
      streams.stdout.write(`${streams.stdout.isTTY ? escaped(text) : text}\n`);
    },
    note: (text) => void (flags.quiet || toError(text)),
    progress(text) {
      // in this order: to open stderr takes time, and most commands have no progress
      if (flags.quiet || (text === undefined && !isInProgress) || !streams.stderr.isTTY) return;
      isInProgress = text !== undefined;
      const columns = (streams.stderr.columns ?? 80) - 1;
      streams.stderr.write(`${CLEAR_LINE}${truncate(printable(singleLine(text ?? '')), columns)}`);
    },
    error: toError,
    draw(text, paint) {
      if (flags.json || !streams.stdout.isTTY) return;
      if (text === undefined) {
        if (isDrawn) streams.stdout.write(LEAVE);
        isDrawn = false;
        return;
      }
      const { rows = 24, columns = 80 } = streams.stdout;
      // each line is overwritten and its rest cleared: to clear the screen first would flicker
      const lines = printable(text)
        .split('\n')
        .slice(0, rows)
        .map((line) => `${painted(truncate(line, columns), paint)}\u001B[K`);
      streams.stdout.write(`${isDrawn ? '' : ENTER}\u001B[H${lines.join('\n')}\u001B[J`);
      isDrawn = true;
    },
  };
}
