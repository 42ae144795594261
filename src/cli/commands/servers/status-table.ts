import type { ConfigProblem, ServerStatus } from '../../../fleet/fleet.js';
import { isFailing, missingLists } from '../../../fleet/missing-lists.js';
import type { Environment } from '../../../shared/environment.js';
import { shellWord } from '../../../shared/text/shell-word.js';
import { misconfiguredLine } from '../../core/config-problems.js';
import { elapsedSince } from '../../core/duration.js';
import { bytes, table } from '../../ui/table.js';
import { NO_SERVERS, quoted, singleLine, widthOf } from '../../ui/text.js';

const HEADER = ['NAME', 'STATE', 'DETAIL', 'PID', 'SINCE', 'RESTARTS', 'CALLS', 'P50', 'MEMORY', 'TOOLS'];
const AGENT_LENGTH = 32;
/** The columns that a narrow terminal does without, in this order. */
const DISPENSABLE = ['P50', 'MEMORY', 'RESTARTS', 'SINCE', 'PID', 'CALLS', 'TOOLS'];

/**
 * The servers as a table, and below it their problems. If servers of other agents are among them, a column says whose
 * each one is.
 */
export function statusTable(
  servers: readonly ServerStatus[],
  now: number,
  columns?: number,
  environment: Environment = {},
): string {
  if (servers.length === 0) return NO_SERVERS;
  const hasOthers = servers.some(({ other_view }) => other_view === true);
  const header = hasOthers ? [...HEADER, 'AGENT'] : HEADER;
  const rows = servers.map((server) => [
    server.name,
    server.state,
    server.detail,
    server.pids.join(',') || '-',
    elapsedSince(server.since, now),
    String(server.restarts),
    server.failures === 0 ? String(server.calls) : `${server.calls} (${server.failures} failed)`,
    server.latency_ms.p50 === null ? '-' : `${server.latency_ms.p50}ms`,
    server.pids.length === 0 ? '-' : bytes(server.rss_bytes),
    String(server.tools),
    ...(hasOthers ? [shortened(server.agent ?? '-')] : []),
  ]);
  const notes = servers.flatMap((server) =>
    [
      noteOf(server, environment) ?? [],
      reasonOf(server) ?? [],
      listNotesOf(server, now),
      pinNoteOf(server) ?? [],
    ].flat(),
  );
  return [narrowed(header, rows, columns), ...notes].join('\n');
}

/** What the table has no column for, of each server. */
export function statusDetails(servers: readonly ServerStatus[]): string[] {
  return servers.flatMap((server) => {
    const { name, transport, lifecycle, incarnation, in_flight, latency_ms, protocol_version } = server;
    const { herd, herd_servers } = server;
    const info = server.server_info ?? {};
    const facts = [
      transport,
      ...(herd === undefined ? [] : [`of the herd ${herd}`]),
      ...(herd_servers === undefined ? [lifecycle] : [`${herd_servers} servers`]),
      `incarnation ${incarnation}`,
      `${in_flight} in flight`,
      ...(latency_ms.p99 === null ? [] : [`p99 ${latency_ms.p99}ms`]),
      ...(protocol_version === null ? [] : [`MCP ${protocol_version}`]),
      [info.name, info.version].filter((word) => typeof word === 'string').join(' '),
    ].filter((fact) => fact !== '');
    const lists = Object.entries(server.lists ?? {}).map(([list, { freshness }]) => {
      const count = server[list as 'tools' | 'prompts' | 'resources'] as number | undefined;
      return `${list} (${count === undefined ? '' : `${count}, `}${freshness})`;
    });
    return [
      singleLine(`${name}: ${facts.join(', ')}`),
      ...(lists.length === 0 ? [] : [`${name}: lists: ${lists.join(', ')}`]),
    ];
  });
}

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

/** Nothing answers at its address. */
export function isUnreachable({ transport, state, last_error }: ServerStatus): boolean {
  return transport !== 'stdio' && state !== 'connected' && last_error?.cause === 'lost';
}

/** The end of a path tells projects apart; `--json` has the whole path. */
function shortened(agent: string): string {
  return agent.length > AGENT_LENGTH ? `…${agent.slice(1 - AGENT_LENGTH)}` : agent;
}

function narrowed(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  columns = Number.POSITIVE_INFINITY,
): string {
  const hidden = new Set<string>();
  const isShown = (_: string, column: number) => !hidden.has(header[column]!);
  for (const title of [...DISPENSABLE, '']) {
    const text = table(
      header.filter(isShown),
      rows.map((row) => row.filter(isShown)),
    );
    if (text.split('\n').every((line) => widthOf(line) <= columns)) return text;
    hidden.add(title);
  }
  return table(
    header.filter(isShown),
    rows.map((row) => row.filter(isShown)),
    columns,
  );
}
