import type { Fleet } from '../ipc/fleet.js';
import { EXIT } from './exit-codes.js';
import type { Output } from './output.js';
import { oneLine } from './plain-text.js';
import { isOutOfReach, noteOf } from './status-table.js';

interface Marked {
  server: string;
  problem?: string;
  cached?: boolean;
  blocked?: string;
}

/** What has to be known of a list beside what is in it: bad definitions, and what was not asked for today. */
export function noteMarks(output: Output, entries: readonly Marked[], name: (index: number) => string): void {
  if (output.isJson) return;
  for (const [index, { problem }] of entries.entries()) {
    if (problem !== undefined) output.note(oneLine(`warning: ${name(index)}: ${problem}`));
  }
  for (const [index, { blocked, server }] of entries.entries()) {
    if (blocked === undefined) continue;
    output.note(oneLine(`blocked: ${name(index)}: ${blocked}; see "toolherd pins ${server}"`));
  }
  const cached = new Set(entries.filter((entry) => entry.cached === true).map(({ server }) => server));
  if (cached.size > 0) output.note(`(as last seen: ${[...cached].join(', ')}; --refresh starts and asks)`);
}

/**
 * A server that could not be asked has not nothing: it is named, with what became of it. Answers with the exit status:
 * who asked for that one alone was not served.
 */
export async function noteSilent(
  output: Output,
  fleet: Fleet,
  entries: readonly Marked[],
  asked: string | undefined,
): Promise<number> {
  const heard = new Set(entries.map(({ server }) => server));
  if (asked !== undefined && heard.has(asked)) return EXIT.ok;
  const { servers } = await fleet.status(asked === undefined ? undefined : [asked]);
  const silent = servers.filter(({ name }) => !heard.has(name));
  const troubled = silent.filter((server) => noteOf(server) !== undefined);
  for (const server of troubled) output.note(`warning: ${noteOf(server)}`);
  const resting = silent.filter(({ detail }) => detail === 'stopped' || detail === 'disabled');
  if (asked !== undefined) for (const { name, detail } of resting) output.note(`(${name} is ${detail})`);
  if (asked === undefined || troubled.length === 0) return EXIT.ok;
  if (troubled.some(({ detail }) => detail === 'needs_auth')) return EXIT.notAllowed;
  return troubled.some(isOutOfReach) ? EXIT.cannotReach : EXIT.failed;
}
