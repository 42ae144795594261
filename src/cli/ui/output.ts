import { API_VERSION } from '../../shared/version.js';
import { escaped, printable, singleLine, truncate } from './text.js';

/** Data goes to stdout, everything else to stderr; nothing that a file or a server says reaches a terminal raw. */
export interface Output {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  /** How wide the terminal is that data goes to; undefined when it goes elsewhere. */
  readonly columns: number | undefined;
  /** One line or more of data for people. Nothing with --json. `paint`: its colours, where there are any. */
  print(text: string, paint?: Paint): void;
  /** What a tool said: to a pipe byte for byte, to a terminal without control characters and with an end of line. */
  printRaw(text: string): void;
  /** Bytes that are no text: to a pipe as they are; a terminal gets the words for them. Nothing with --json. */
  printBytes(bytes: Uint8Array, words: string): void;
  /** The data for scripts. Nothing without --json. */
  json(value: Record<string, unknown>): void;
  /** One of many pieces of data for scripts, in a line of its own. Nothing without --json. */
  jsonLine(value: Record<string, unknown>): void;
  /** Words beside the data: warnings, what is being done. Nothing with -q. */
  note(text: string): void;
  /** How far something is: one line that the next one replaces, and `undefined` takes away. On a terminal only. */
  progress(text: string | undefined): void;
  /** What went wrong. Always said. */
  error(text: string): void;
  /**
   * A screen of its own: each text is drawn over the last one, without flicker. `undefined` gives the terminal back as
   * it was. Only where data goes to a terminal (see `columns`).
   */
  draw(text: string | undefined, paint?: Paint): void;
}

/** Puts colours into a text that is safe already. */
export type Paint = (text: string) => string;

interface Streams {
  stdout: {
    write(text: string | Uint8Array): unknown;
    isTTY?: boolean | undefined;
    columns?: number | undefined;
    rows?: number | undefined;
  };
  stderr: { write(text: string): unknown; isTTY?: boolean | undefined; columns?: number | undefined };
}

const CLEAR_LINE = '\r\u001B[K';
/** The other screen, without a cursor; and back. */
const ENTER = '\u001B[?1049h\u001B[?25l';
const LEAVE = '\u001B[?25h\u001B[?1049l';

export function createOutput(
  streams: Streams,
  flags: { json: boolean; quiet: boolean; color?: boolean },
): Output {
  const toError = (text: string) => void streams.stderr.write(`${printable(text)}\n`);
  let isInProgress = false;
  let isDrawn = false;
  const painted = (text: string, paint: Paint | undefined) =>
    paint !== undefined && flags.color === true && streams.stdout.isTTY ? paint(text) : text;
  const toTerminal = (text: string) => (text.endsWith('\n') ? printable(text) : `${printable(text)}\n`);
  return {
    isJson: flags.json,
    isQuiet: flags.quiet,
    get columns() {
      // A terminal that does not know says 0.
      return streams.stdout.isTTY ? streams.stdout.columns || undefined : undefined;
    },
    print: (text, paint) => void (flags.json || streams.stdout.write(`${painted(printable(text), paint)}\n`)),
    printRaw: (text) =>
      void (flags.json || streams.stdout.write(streams.stdout.isTTY ? toTerminal(text) : text)),
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
      // in this order: to look at standard error takes time, and most calls have no progress
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
      // every line is written over and its rest cleared: to clear the screen first is what flickers
      const lines = printable(text)
        .split('\n')
        .slice(0, rows)
        .map((line) => `${painted(truncate(line, columns), paint)}\u001B[K`);
      streams.stdout.write(`${isDrawn ? '' : ENTER}\u001B[H${lines.join('\n')}\u001B[J`);
      isDrawn = true;
    },
  };
}
