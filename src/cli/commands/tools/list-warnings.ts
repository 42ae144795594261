import type { Fleet, MissingList } from '../../../fleet/fleet.js';
import { noteOf } from '../../../fleet/texts/server-notes.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { shellWord } from '../../../shared/text/shell-word.js';
import type { CommandContext } from '../../core/command.js';
import type { Output } from '../../ui/output.js';
import { singleLine } from '../../ui/text.js';
import { isUnreachable } from '../servers/status-table.js';

interface Marked {
  server: string;
  problem?: string;
  cached?: boolean;
  blocked?: string;
}

export interface Listed {
  entries: readonly Marked[];
  /** Absent in the answer of an older daemon. */
  missing: readonly MissingList[] | undefined;
}

/** Warns about bad definitions, blocked tools and cached lists. `warnAboutMissingLists` covers the `missing` ones. */
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
    output.note(singleLine(`blocked: ${name(index)}: ${blocked}; see "toolherd pins ${shellWord(server)}"`));
  }
  const cached = new Set(entries.filter((entry) => entry.cached === true).map(({ server }) => server));
  for (const { server } of missing) cached.delete(server);
  if (cached.size > 0)
    output.note(`(cached lists of ${[...cached].join(', ')}; --refresh starts them and asks again)`);
}

/**
 * Names the servers whose lists are missing, with the reason. Answers with the exit status: 0 for all servers. For one
 * server it is a failure to get no list, or with `refresh` an old one.
 */
export async function warnAboutMissingLists(
  { output, environment }: Pick<CommandContext, 'output' | 'environment'>,
  fleet: Fleet,
  { entries, missing = [] }: Listed,
  { server: asked, refresh }: { server: string | undefined; refresh: boolean },
): Promise<number> {
  const listed = new Set(entries.map(({ server }) => server));
  const { servers } = await fleet.status(asked === undefined ? undefined : [asked]);
  const silent = servers.filter(({ name, other_view }) => !listed.has(name) && other_view !== true);
  const troubled = silent.filter((server) => noteOf(server) !== undefined);
  for (const server of troubled) output.note(`warning: ${noteOf(server, environment)}`);
  const explained = new Set(troubled.map(({ name }) => name));
  const reasons = missing.filter(({ server }) => !explained.has(server));
  const notes = new Set(reasons.map(({ server, reason }) => singleLine(`missing: ${server}: ${reason}`)));
  for (const note of notes) output.note(note);
  const isOld = refresh && missing.length > 0;
  if (asked === undefined || (listed.has(asked) && !isOld)) return EXIT.ok;
  const unserved = servers.filter(({ other_view }) => other_view !== true);
  const resting = unserved.filter(({ detail }) => detail === 'stopped' || detail === 'disabled');
  if (reasons.length === 0) for (const { name, detail } of resting) output.note(`(${name} is ${detail})`);
  const failing = unserved.filter((server) => noteOf(server) !== undefined);
  if (failing.some(({ detail }) => detail === 'needs_auth' || detail === 'not_allowed'))
    return EXIT.notAllowed;
  if (failing.some(isUnreachable)) return EXIT.cannotReach;
  return failing.length + missing.length > 0 && resting.length === 0 ? EXIT.failed : EXIT.ok;
}
