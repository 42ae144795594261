import type { FleetStatus, Order, ServerStatus } from '../../fleet/fleet.js';
import { isFailing } from '../../fleet/missing-lists.js';
import { serverKey, type Tone } from '../text/server-state.js';

/** What helps: an order, or a place of the page. */
export type Help =
  | { kind: 'order'; order: Order; text: string }
  | { kind: 'authorize'; text: string }
  | { kind: 'go'; page: string; rest: readonly string[]; tab?: string; text: string };

/** One thing that a person should look at. */
export interface Attention {
  key: string;
  /** The smaller, the more urgent. */
  rank: number;
  tone: Tone;
  /** Null: it concerns the daemon. */
  server: ServerStatus | null;
  /** What is so, in a sentence. */
  what: string;
  /** The cause; lines of the server's output may follow. */
  why: string | undefined;
  fix: string | undefined;
  /** When toolherd tries again. */
  nextTry: string | null;
  help: readonly Help[];
}

/** A start that takes longer is shown. */
const LONG_START_MS = 10_000;

/** What needs a person, the most urgent first; servers of one rank in the order of the config. */
export function attentionOf({ servers, daemon }: FleetStatus, now: number): Attention[] {
  const found = [...ofDaemon(daemon), ...servers.flatMap((server) => ofServer(server, now) ?? [])];
  return found.sort((a, b) => a.rank - b.rank);
}

function ofDaemon(daemon: FleetStatus['daemon']): Attention[] {
  const common = { server: null, nextTry: null, fix: undefined };
  const toConfig: Help = { kind: 'go', page: 'config', rest: [], text: 'Show the problems' };
  return [
    ...(daemon.config_error === null
      ? []
      : [
          {
            ...common,
            key: 'daemon/config',
            rank: 0,
            tone: 'bad' as const,
            what: 'The changed config was not applied: the herd runs with the one before.',
            why: daemon.config_error,
            help: [toConfig],
          },
        ]),
    ...(daemon.memory?.problem == null
      ? []
      : [
          {
            ...common,
            key: 'daemon/memory',
            rank: 5,
            tone: 'warn' as const,
            what: 'The servers use more memory than daemon.max_rss allows.',
            why: daemon.memory.problem,
            help: [],
          },
        ]),
    ...((daemon.audit?.lost ?? 0) === 0
      ? []
      : [
          {
            ...common,
            key: 'daemon/audit',
            rank: 6,
            tone: 'warn' as const,
            what: `The daemon could not write ${daemon.audit!.lost} records of calls to the audit file.`,
            why: undefined,
            fix: `look at the folder of ${daemon.audit!.file}: is the disk full?`,
            help: [],
          },
        ]),
  ];
}

function ofServer(server: ServerStatus, now: number): Attention | undefined {
  const trouble = troubleOf(server, now);
  if (trouble === undefined) return undefined;
  return { key: serverKey(server), server, nextTry: server.next_retry_at, ...trouble };
}

type Trouble = Pick<Attention, 'rank' | 'tone' | 'what' | 'why' | 'fix' | 'help'>;

function troubleOf(server: ServerStatus, now: number): Trouble | undefined {
  const { name, detail, state, last_error } = server;
  const message = last_error?.message.replace(`${name}: `, '');
  const why = [message, last_error?.why].filter(Boolean).join('\n') || undefined;
  // the button beside it opens the logs
  const fix = last_error?.fix?.startsWith('see "toolherd logs') ? undefined : last_error?.fix;
  const logs: Help = { kind: 'go', page: 'server', rest: [name], tab: 'logs', text: 'Logs' };
  const toConfig: Help = { kind: 'go', page: 'config', rest: [], text: 'Show the problem' };
  const order = (given: Order, text: string): Help => ({ kind: 'order', order: given, text });
  switch (detail) {
    case 'quarantined':
      return {
        rank: 1,
        tone: 'bad',
        what: 'It failed too often, or a restart cannot help.',
        why,
        fix,
        help: [order('reset', 'Reset'), logs],
      };
    case 'misconfigured':
      return {
        rank: 2,
        tone: 'bad',
        what: 'Its entry in the config cannot be resolved.',
        why: problemsOf(server) ?? why,
        fix: fixesOf(server) ?? fix,
        help: [toConfig],
      };
    case 'needs_auth':
      return {
        rank: 3,
        tone: 'warn',
        what: 'It needs an authorisation.',
        why,
        fix,
        help: [{ kind: 'authorize', text: 'Authorise' }],
      };
    case 'not_allowed':
      return { rank: 3, tone: 'warn', what: 'Its agent.yaml is not allowed.', why, fix, help: [toConfig] };
    case 'waiting':
      return {
        rank: 4,
        tone: 'warn',
        what: 'It failed and waits for the next try.',
        why,
        fix,
        help: [order('start', 'Try now'), logs],
      };
  }
  if (isFailing(server)) {
    const what = 'Its last start failed. The next call tries again.';
    return { rank: 4, tone: 'bad', what, why, fix, help: [order('start', 'Try now'), logs] };
  }
  if (detail === 'running' && state !== 'connected' && message !== undefined) {
    // it stays in the list between two failures, so that the list does not flicker
    const what = 'It failed and is being started again.';
    return { rank: 4, tone: 'warn', what, why, fix, help: [logs] };
  }
  return ofConnected(server) ?? ofStarting(server, now, logs);
}

function problemsOf({ last_error }: ServerStatus): string | undefined {
  const problems = last_error?.problems ?? [];
  return problems.map(({ message, file, line }) => `${message}, at ${file}:${line}`).join('\n') || undefined;
}

function fixesOf({ last_error }: ServerStatus): string | undefined {
  return [...new Set((last_error?.problems ?? []).map(({ fix }) => fix))].join('; ') || undefined;
}

function ofStarting({ detail, state, since }: ServerStatus, now: number, logs: Help): Trouble | undefined {
  const isSlow = now - Date.parse(since) > LONG_START_MS;
  if (detail !== 'running' || state === 'connected' || !isSlow) return undefined;
  const what = 'It has been starting for a long time. Calls wait for it.';
  return { rank: 5, tone: 'busy', what, why: undefined, fix: undefined, help: [logs] };
}

/** A connected server can still lack something: tools that differ from their pins, lists that failed, or anything to offer. */
function ofConnected(server: ServerStatus): Trouble | undefined {
  const { name, state, detail, unaccepted, tools, prompts, resources, lists = {} } = server;
  const to = (tab: string, text: string): Help => ({ kind: 'go', page: 'server', rest: [name], tab, text });
  if (unaccepted !== undefined) {
    const count = unaccepted.tools;
    const differs = count === 1 ? '1 tool differs from its pin' : `${count} tools differ from their pins`;
    const blocked = unaccepted.blocked ? ` and ${count === 1 ? 'is' : 'are'} blocked` : '';
    return {
      rank: unaccepted.blocked ? 3 : 6,
      tone: 'warn',
      what: `${differs}${blocked}.`,
      why: undefined,
      fix: 'look at the difference, and accept it if it is wanted',
      help: [to('pins', 'Show the difference')],
    };
  }
  if (detail !== 'running' || state !== 'connected') return undefined;
  const failed = Object.entries(lists).find(([, list]) => list.reason !== undefined);
  if (failed !== undefined) {
    return {
      rank: 5,
      tone: 'warn',
      what: `Its ${failed[0]} could not be read.`,
      why: failed[1].reason,
      fix: undefined,
      help: [to('logs', 'Logs')],
    };
  }
  const isRead = Object.values(lists).every(({ freshness }) => freshness === 'fresh');
  if (isRead && tools + prompts + resources === 0) {
    const what = 'It is connected, but it offers no tools, prompts or resources.';
    return { rank: 6, tone: 'warn', what, why: undefined, fix: undefined, help: [to('logs', 'Logs')] };
  }
  return undefined;
}
