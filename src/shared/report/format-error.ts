import { quoted } from '../text/control-characters.js';

export interface ErrorText {
  type: string;
  message: string;
  /** What the file that was refused would run. */
  preview?: string | undefined;
  why?: string | undefined;
  /** Of a call: whether the request was written to the server. */
  sent?: boolean;
  fix?: string | undefined;
}

export function sentLine(sent: boolean): string {
  return `  sent: ${sent ? 'yes, the tool may have run' : 'no, the tool did not run'}`;
}

/** An error as the command prints it for people: what happened, why, and how to fix it. */
export function formatError({ type, message, preview, why, sent, fix }: ErrorText): string {
  return [
    `error: ${type}: ${quoted(message)}`,
    ...(preview === undefined ? [] : [preview]),
    ...(why === undefined ? [] : [`  why: ${quoted(why)}`]),
    ...(sent === undefined ? [] : [sentLine(sent)]),
    ...(fix === undefined ? [] : [`  fix: ${fix}`]),
  ].join('\n');
}
