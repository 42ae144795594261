import type { Environment } from '../../shared/environment.js';
import { quoted, singleLine } from '../../shared/text/control-characters.js';
import { shellWord } from '../../shared/text/shell-word.js';
import type { ConfigProblem, ServerStatus } from '../fleet.js';
import { isFailing, missingLists } from '../missing-lists.js';
import { misconfiguredLine } from './config-problems.js';

/** Why a server does not run although no user stopped it. `environment`: that of this command. */
export function noteOf(server: ServerStatus, environment: Environment = {}): string | undefined {
  const { name, last_error, detail, next_retry_at } = server;
  const problems = entryProblems(server);
  if (problems.length > 0) return misconfiguredLine(name, problems, environment);
  if (last_error === null || !isInTrouble(server)) return undefined;
  const next = next_retry_at === null ? '' : `; next try at ${next_retry_at}`;
  const { fix = `see "toolherd auth ${shellWord(name)}"` } = last_error;
  const remedy = detail === 'needs_auth' ? `; ${fix}` : next;
  return singleLine(`${name}: ${last_error.message.replace(`${name}: `, '')}${remedy}`);
}

/** What is wrong with the entry of a server that is misconfigured. */
export function entryProblems({ last_error }: ServerStatus): readonly ConfigProblem[] {
  return last_error?.problems ?? [];
}

/** A start that takes longer is shown: lists wait no longer than this by default, and then lack that server. */
const LONG_START_MS = 2000;

/** Which lists of a server agents do not see, or see as they once were, and why. `noteOf` says why a server does not run. */
export function listNotesOf(server: ServerStatus, now: number): string[] {
  const { name, detail, since, lists = {} } = server;
  const missing = missingLists(server, now);
  if (detail !== 'running' || noteOf(server) !== undefined) {
    const isOld = missing.some(({ list }) => ['stale', 'cached'].includes(lists[list]?.freshness ?? ''));
    const note = `${name}: its lists may be outdated; the last known ones are shown`;
    // an idle server is asked at its next start
    return isOld && isInTrouble(server) ? [note] : [];
  }
  const failed = missing.filter(({ list }) => server.lists?.[list]?.reason !== undefined);
  const notes = failed.map(({ reason }) => singleLine(`${name}: ${reason}`));
  const [unknown] = missing.filter((one) => !failed.includes(one));
  if (unknown === undefined || now - Date.parse(since) < LONG_START_MS) return notes;
  return [...notes, `${name}: ${unknown.reason}; agents see what it offers when it has started`];
}

/** What led to the problem. Lines of the server's output are marked. */
export function reasonOf(server: ServerStatus): string | undefined {
  const why = isInTrouble(server) ? server.last_error?.why : undefined;
  return why === undefined ? undefined : `  ${quoted(why)}`;
}

/** The server does not run although no user stopped it, or its last start failed and the next call tries again. */
export function isInTrouble({ state, detail }: ServerStatus): boolean {
  if (detail === 'running') return state !== 'connected';
  return detail === 'not_allowed' || isFailing({ state, detail });
}

/** That the definitions of tools differ from the pinned ones. */
export function pinNoteOf({ name, unaccepted }: ServerStatus): string | undefined {
  if (unaccepted === undefined) return undefined;
  const { tools, blocked } = unaccepted;
  const what = tools === 1 ? '1 tool differs from its pin' : `${tools} tools differ from their pins`;
  const follows = blocked ? ` and ${tools === 1 ? 'is' : 'are'} blocked` : '';
  return singleLine(`${name}: ${what}${follows}; see "toolherd pins ${shellWord(name)}"`);
}

/** Whose server it is, for one that only another agent has. */
export function ownerOf({ agent, other_view }: ServerStatus): string {
  return other_view === true ? singleLine(` (of ${agent ?? 'the global config'})`) : '';
}
