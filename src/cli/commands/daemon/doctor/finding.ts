/** One thing that was looked at. Whatever is not ok says what to do about it. */
export interface Finding {
  /** What was looked at, in one word. */
  about: string;
  level: 'ok' | 'warn' | 'error';
  message: string;
  /** What led to it; lines after the first are words of a server. */
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
export const fault = (about: string, message: string, fix: string): Finding => ({
  about,
  level: 'error',
  message,
  fix,
});

export function wordsOf(error: unknown): { message: string; fix: string } {
  const { message, fix } = error as { message: string; fix?: string };
  return { message, fix: fix ?? 'see "toolherd validate"' };
}
