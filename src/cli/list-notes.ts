import type { Output } from './output.js';

interface Marked {
  server: string;
  problem?: string;
  cached?: boolean;
}

/** What has to be known of a list beside what is in it: bad definitions, and what was not asked for today. */
export function noteMarks(output: Output, entries: readonly Marked[], name: (index: number) => string): void {
  if (output.isJson) return;
  for (const [index, { problem }] of entries.entries()) {
    if (problem !== undefined) output.note(`warning: ${name(index)}: ${problem}`);
  }
  const cached = new Set(entries.filter((entry) => entry.cached === true).map(({ server }) => server));
  if (cached.size > 0) output.note(`(as last seen: ${[...cached].join(', ')}; --refresh starts and asks)`);
}
