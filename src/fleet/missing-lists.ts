import { shellWord } from '../shared/text/shell-word.js';
import type { ListKey, ListStatus, MissingList, ServerStatus } from './fleet.js';

/** What is known of one list. */
type KnownList = Pick<ListStatus, 'freshness'> & { reason?: string | undefined };

/**
 * Which lists of a server are missing, and why (see `isMissing`). A server that its config disables has no lists.
 */
export function missingLists(
  status: ServerStatus,
  now: number,
  lists = Object.keys(status.lists ?? {}) as readonly ListKey[],
): MissingList[] {
  if (status.detail === 'disabled' || status.detail === 'not_allowed') return [];
  return lists.flatMap((list) => {
    const known = status.lists?.[list];
    if (known === undefined || !isMissing(status, known)) return [];
    return [{ server: status.name, list, reason: reasonOf(status, known, now) }];
  });
}

/**
 * A list is missing where the last reading failed, where it is unknown, or where it is stale and no process is connected
 * to read it. A cached list is shown for an idle server; it counts as missing only where the server fails to start.
 */
export function isMissing(
  server: Pick<ServerStatus, 'state' | 'detail'>,
  { freshness, reason }: KnownList,
): boolean {
  if (reason !== undefined) return true;
  if (freshness === 'stale') return server.state !== 'connected';
  return freshness === 'cached' ? isFailing(server) : freshness !== 'fresh';
}

/** It does not run because its last process failed, or because a person has to act first. */
export function isFailing({ state, detail }: Pick<ServerStatus, 'state' | 'detail'>): boolean {
  return (
    ['waiting', 'quarantined', 'needs_auth'].includes(detail) || (detail === 'idle' && state === 'error')
  );
}

function reasonOf(status: ServerStatus, { freshness, reason, next_try_at }: ListStatus, now: number): string {
  const why =
    reason === undefined ? whyUnread(status, now) : `${reason}; ${nextTry(status, next_try_at, now)}`;
  const isShown = freshness === 'stale' || freshness === 'cached';
  return isShown ? `${why}; what it last listed is shown` : why;
}

/** A reading is planned while a process could be asked, and runs once its time has come. */
function nextTry(status: ServerStatus, at: string | null | undefined, now: number): string {
  if (at) return `next try in ${secondsTo(at, now)}`;
  return canRead(status) ? 'it is being read again' : 'it is read at the next start';
}

/** A process of a transient server that has a call is not asked for lists. */
function canRead({ state, lifecycle, pids, in_flight }: ServerStatus): boolean {
  return state === 'connected' && (lifecycle !== 'transient' || pids.length > in_flight);
}

function whyUnread({ name, state, detail, since, last_error, next_retry_at }: ServerStatus, now: number) {
  const error = last_error?.message.replace(`${name}: `, '');
  const passed = `${Math.max(0, Math.round((now - Date.parse(since)) / 1000))} s`;
  switch (detail) {
    case 'running':
      return state === 'connected'
        ? 'connected, its lists are being read'
        : `has been starting for ${passed}`;
    case 'waiting':
      return `${error ?? 'it does not run'}; next try in ${secondsTo(next_retry_at ?? since, now)}`;
    case 'quarantined':
      return error === undefined ? 'it is quarantined' : `it is quarantined: ${error}`;
    case 'needs_auth':
      return `it needs an authorisation; ${last_error?.fix ?? `see "toolherd auth ${shellWord(name)}"`}`;
    case 'stopped':
      return 'it is stopped';
    default:
      // an error that an earlier process left is not why it does not run now
      if (state === 'error' && error !== undefined) return `it does not run: ${error}`;
      return state === 'created' ? 'it was never started' : 'it is at rest';
  }
}

function secondsTo(time: string, now: number): string {
  return `${Math.max(0, Math.ceil((Date.parse(time) - now) / 1000))} s`;
}
