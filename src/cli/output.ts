import { API_VERSION } from '../version.js';

/** Data goes to stdout, everything else to stderr; nothing that a file or a server says reaches a terminal raw. */
export interface Output {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  /** One line or more of data for people. Nothing with --json. */
  print(text: string): void;
  /** What a tool said: to a pipe byte for byte, to a terminal without control characters. */
  printRaw(text: string): void;
  /** Bytes that are no text: to a pipe as they are; a terminal gets the words for them. Nothing with --json. */
  printBytes(bytes: Uint8Array, words: string): void;
  /** The data for scripts. Nothing without --json. */
  json(value: Record<string, unknown>): void;
  /** Words beside the data: progress, warnings. Nothing with -q. */
  note(text: string): void;
  /** What went wrong. Always said. */
  error(text: string): void;
}

interface Streams {
  stdout: { write(text: string | Uint8Array): unknown; isTTY?: boolean | undefined };
  stderr: { write(text: string): unknown };
}

export function createOutput(streams: Streams, flags: { json: boolean; quiet: boolean }): Output {
  const toError = (text: string) => void streams.stderr.write(`${printable(text)}\n`);
  return {
    isJson: flags.json,
    isQuiet: flags.quiet,
    print: (text) => void (flags.json || streams.stdout.write(`${printable(text)}\n`)),
    printRaw: (text) =>
      void (flags.json || streams.stdout.write(streams.stdout.isTTY ? printable(text) : text)),
    printBytes: (bytes, words) =>
      void (flags.json || streams.stdout.write(streams.stdout.isTTY ? `${printable(words)}\n` : bytes)),
    json: (value) =>
      void (
        flags.json &&
        streams.stdout.write(`${JSON.stringify({ api_version: API_VERSION, ...value }, null, 2)}\n`)
      ),
    note: (text) => void (flags.quiet || toError(text)),
    error: toError,
  };
}

/** Without the characters that move the cursor, change colours, or turn text around. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu, (character) =>
    character === '\n' || character === '\t' ? character : '\uFFFD',
  );
}
