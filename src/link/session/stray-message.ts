import type { StrayCounts } from './reply-router.js';

/** What cannot be read stands in the log as it came. */
const WHAT: Partial<Record<keyof StrayCounts, string>> = {
  replies: 'a reply to no call in flight (late, repeated or forged)',
  progress: 'progress that no call in flight asked for',
};

/**
 * What the log says of something that was delivered to nobody: of the first, the tenth, the hundredth and so on, so
 * that no server can fill the log with them.
 */
export function strayText(kind: keyof StrayCounts, count: number): string | undefined {
  const what = WHAT[kind];
  if (what === undefined || !Number.isInteger(Math.log10(count))) return undefined;
  return `${what} was delivered to nobody; ${count} so far`;
}
