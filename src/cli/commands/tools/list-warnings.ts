import type { Fleet, MissingList } from '../../../fleet/fleet.js';
import type { CommandContext } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';
import type { Output } from '../../ui/output.js';
import { singleLine } from '../../ui/text.js';
import { isUnreachable, noteOf } from '../servers/status-table.js';

interface Marked {
  server: string;
  problem?: string;
  cached?: boolean;
  blocked?: string;
}

interface Listed {
  entries: readonly Marked[];
  /** Absent in the answer of an older daemon. */
  missing: readonly MissingList[] | undefined;
}

/**
 * What has to be known of a list beside what is in it: bad definitions, and what was not asked for today. Of servers that
 * are `missing`, `noteMissing` says more.
 */
export function warnAboutBadDefinitions(
  output: Output,
  { entries, missing = [] }: Listed,
  name: (index: number) => string,
): void {
  if (output.isJson) return;
  for (const [index, { problem }] of entries.entries()) {
    if (problem !== undefined) output.note(singleLine(`warning: ${name(index)}: ${problem}`));
  }
  for (const [index, { blocked, server }] of entries.entries()) {
    if (blocked === undefined) continue;
    output.note(singleLine(`blocked: ${name(index)}: ${blocked}; see "toolherd pins ${server}"`));
  }
  const cached = new Set(entries.filter((entry) => entry.cached === true).map(({ server }) => server));
  for (const { server } of missing) cached.delete(server);
  if (cached.size > 0) output.note(`(as last seen: ${[...cached].join(', ')}; --refresh starts and asks)`);
}

/**
 * Servers whose lists are not known are named, with the reason. Answers with the exit status: 0 for the herd; who asked
 * for one server alone, and got nothing of it, was not served, nor was who asked with --refresh and got an old list.
 */
export async function warnAboutMissingLists(
  { output, environment, flags }: Pick<CommandContext, 'output' | 'environment' | 'flags'>,
  fleet: Fleet,
  { entries, missing = [] }: Listed,
  asked: string | undefined,
): Promise<number> {
  const heard = new Set(entries.map(({ server }) => server));
  const { servers } = await fleet.status(asked === undefined ? undefined : [asked]);
  const silent = servers.filter(({ name, other_view }) => !heard.has(name) && other_view !== true);
  const troubled = silent.filter((server) => noteOf(server) !== undefined);
  for (const server of troubled) output.note(`warning: ${noteOf(server, environment)}`);
  const told = new Set(troubled.map(({ name }) => name));
  const reasons = missing.filter(({ server }) => !told.has(server));
  const notes = new Set(reasons.map(({ server, reason }) => singleLine(`missing: ${server}: ${reason}`)));
  for (const note of notes) output.note(note);
  const isOld = flags.refresh === true && missing.length > 0;
  if (asked === undefined || (heard.has(asked) && !isOld)) return EXIT.ok;
  const unserved = servers.filter(({ other_view }) => other_view !== true);
  const resting = unserved.filter(({ detail }) => detail === 'stopped' || detail === 'disabled');
  if (reasons.length === 0) for (const { name, detail } of resting) output.note(`(${name} is ${detail})`);
  const failing = unserved.filter((server) => noteOf(server) !== undefined);
  if (failing.some(({ detail }) => detail === 'needs_auth' || detail === 'not_allowed'))
    return EXIT.notAllowed;
  if (failing.some(isUnreachable)) return EXIT.cannotReach;
  return failing.length + missing.length > 0 && resting.length === 0 ? EXIT.failed : EXIT.ok;
}
