import type { ConfigProblem } from '../../../../fleet/fleet.js';

/** The result of one check. If it is not ok, it says how to fix that. */
export interface Finding {
  /** What was checked, in one word. */
  about: string;
  level: 'ok' | 'warn' | 'error';
  message: string;
  /** What led to it. Lines after the first are shown as a quotation. */
  why?: string;
  fix?: string;
}

export const ok = (about: string, message: string): Finding => ({ about, level: 'ok', message });
export const warn = (about: string, message: string, fix: string): Finding => ({
  about,
  level: 'warn',
  message,
  fix,
});
export const error = (about: string, message: string, fix: string): Finding => ({
  about,
  level: 'error',
  message,
  fix,
});

/** Where a problem of a config is, and what it is. */
export function placed({ file, line, message }: ConfigProblem): string {
  return `${file}:${line}: ${message}`;
}

export function wordsOf(failure: unknown): { message: string; fix: string; type: string | undefined } {
  const { message, fix, type } = failure as { message: string; fix?: string; type?: string };
  return { message, fix: fix ?? 'see "toolherd validate"', type };
}
