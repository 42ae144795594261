import { dirname } from 'node:path';
import type { FleetStatus, ServerStatus } from '../../../../fleet/fleet.js';
import { problemLine, withCallerVariables } from '../../../../fleet/texts/config-problems.js';
import {
  entryProblems,
  listNotesOf,
  noteOf,
  ownerOf,
  pinNoteOf,
} from '../../../../fleet/texts/server-notes.js';
import { holderOf } from '../../../../ipc/socket/socket-lock.js';
import { lockFileOf } from '../../../../ipc/socket/socket-owner.js';
import { ledgersAt, writerLives } from '../../../../processes/ledger-files.js';
import { cookieOf, startTimeOf } from '../../../../processes/process-identity.js';
import { readLedger } from '../../../../processes/read-ledger.js';
import type { Environment } from '../../../../shared/environment.js';
import { shellWord } from '../../../../shared/text/shell-word.js';
import { VERSION } from '../../../../shared/version.js';
import type { CommandContext } from '../../../core/command.js';
import { limitByTimeoutOption } from '../../../core/timeout.js';
import { error, type Finding, ok, placed, warn, wordsOf } from './finding.js';

const MORE_MEMORY =
  'raise daemon.max_rss, or give the hungriest server a max_rss (see MEMORY in "toolherd status")';

/** A daemon that is well says hello, and answers, within this time, even if it is busy. */
const PATIENCE_MS = 10_000;

/** What was found, and the status of the daemon, if one answers. */
export interface CheckedDaemon {
  findings: Finding[];
  status?: FleetStatus;
}

/** The running daemon, its version and its servers in trouble; or what a dead daemon has left. `config`: what is known of it. */
export async function checkDaemon(
  context: CommandContext,
  socket: string,
  config: readonly Finding[],
): Promise<CheckedDaemon> {
  try {
    const timeoutMs = context.globals.timeout ?? PATIENCE_MS;
    const fleet = await context.fleet({ autostart: false, viewMode: 'herd', timeoutMs });
    const status = await limitByTimeoutOption({ globals: { timeout: timeoutMs } }, fleet.status());
    const known = new Set(config.map(({ message }) => message));
    return { findings: describe(status, context.environment, known), status };
  } catch (failure) {
    const { message, fix, type } = wordsOf(failure);
    if (type === 'MCPTimeoutError') return { findings: [unresponsive(socket)] };
    if (type !== 'DaemonNotRunningError') return { findings: [error('daemon', message, fix)] };
    const none = ok('daemon', 'none is running; the next call starts it');
    return { findings: [none, ...leftovers(context, socket)] };
  }
}

function unresponsive(socket: string): Finding {
  const pid = holderOf(lockFileOf(socket));
  const fix =
    pid === undefined ? 'end it' : `kill -9 ${pid}; its servers are ended, and the next call starts another`;
  return error('daemon', `the daemon on ${socket} does not answer`, fix);
}

function describe(
  { daemon, servers }: FleetStatus,
  environment: Environment,
  told: ReadonlySet<string>,
): Finding[] {
  const { version, pid, config_error, http, memory } = daemon;
  const about = `running (pid ${pid}, version ${version})`;
  return [
    version === VERSION
      ? ok('daemon', about)
      : warn('daemon', `${about}, but this command is ${VERSION}`, 'toolherd up --replace'),
    ...(config_error === null
      ? []
      : [
          {
            ...error('daemon', 'the changed config was not applied', 'toolherd validate'),
            why: config_error,
          },
        ]),
    ...(http?.error ? [error('http', http.error, 'see daemon.http in docs/CONFIG.md')] : []),
    ...(memory?.problem ? [warn('memory', memory.problem, MORE_MEMORY)] : []),
    ...auditOf(daemon),
    ...embeddingsOf(daemon),
    ...servers.flatMap((server) => serverFindings(server, environment, told)),
    ...servers.flatMap(runnerFinding),
    ...servers.flatMap((server) =>
      listNotesOf(server, Date.now()).map((note) =>
        warn('lists', note + ownerOf(server), `toolherd why ${shellWord(server.name)}`),
      ),
    ),
    ...servers.flatMap((server) => {
      const note = pinNoteOf(server);
      return note === undefined
        ? []
        : [warn('pins', note + ownerOf(server), `toolherd pins ${shellWord(server.name)}`)];
    }),
  ];
}

/** `told`: findings about the config. They are not repeated for the server that they are about. */
function serverFindings(
  server: ServerStatus,
  environment: Environment,
  told: ReadonlySet<string>,
): Finding[] {
  const problems = withCallerVariables(entryProblems(server), environment);
  if (problems.length > 0)
    return problems
      .filter((problem) => !told.has(placed(problem)))
      .map((problem) =>
        warn('server', `${server.name}: ${problemLine(problem)}${ownerOf(server)}`, problem.fix),
      );
  const note = noteOf(server);
  if (note === undefined) return [];
  const { fix = `toolherd why ${shellWord(server.name)}`, why } = server.last_error ?? {};
  const finding = warn('server', note + ownerOf(server), fix);
  return [why === undefined ? finding : { ...finding, why }];
}

/** How npx is run: both ways are well. */
function runnerFinding({ name, runner, package: found }: ServerStatus): Finding[] {
  if (runner === undefined) return [];
  const version = found === undefined ? '' : ` (${found.name} ${found.version})`;
  return [ok('npx', `${name}: ${runner}${version}`)];
}

function auditOf({ audit }: FleetStatus['daemon']): Finding[] {
  if (audit === undefined) return [];
  const { file, lost } = audit;
  if (lost === 0) return [ok('audit', file)];
  const fix = `check that ${dirname(file)} is writable and the disk is not full; lost records cannot be restored`;
  return [warn('audit', `${lost} calls could not be written down in ${file}`, fix)];
}

function embeddingsOf({ search }: FleetStatus['daemon']): Finding[] {
  const { embeddings = null } = search ?? {};
  if (embeddings === null) return [];
  const { url, vectors, waiting, problem } = embeddings;
  if (problem === null) return [ok('search', `${vectors} tools have embeddings by ${url}, ${waiting} wait`)];
  const fix = 'check search.embeddings in config.yaml and the service; searches rank by words meanwhile';
  return [warn('search', `the embeddings of ${url} do not work: ${problem}`, fix)];
}

/** A lock that is held while no daemon serves, and servers of a daemon that was killed. */
function leftovers({ paths }: CommandContext, socket: string): Finding[] {
  const holder = holderOf(lockFileOf(socket));
  const stuck =
    holder === undefined
      ? []
      : [warn('lock', `process ${holder} has the lock of the socket and does not serve`, `kill ${holder}`)];
  return [...stuck, ...staleServers(paths.ledgerFile)];
}

/**
 * Servers in ledgers of dead daemons that still run, by their cookie: another process may have the pid by now. The next
 * daemon ends those with their cookie only. Not every system shows the environment of every process: then pid and start
 * time are known.
 */
function staleServers(ledgerFile: string): Finding[] {
  const marked: number[] = [];
  const hidden: number[] = [];
  for (const { pid, cookie, startTime } of ledgersAt(ledgerFile).flatMap(leftOf)) {
    const shown = cookieOf(pid);
    if (shown === cookie) marked.push(pid);
    else if (shown === null && startTime !== null && startTimeOf(pid) === startTime) hidden.push(pid);
  }
  const found: Finding[] = [];
  const still = (pids: number[]) => `servers of a daemon that died still run: ${pids.join(', ')}`;
  if (marked.length > 0) found.push(warn('processes', still(marked), 'toolherd up (it ends them first)'));
  if (hidden.length > 0) {
    const message = `${still(hidden)}; their environment cannot be read, so toolherd does not end them`;
    found.push(warn('processes', message, `check what they are, then: kill ${hidden.join(' ')}`));
  }
  return found;
}

/** None for the ledger of a daemon that lives. */
function leftOf(file: string) {
  const { header, left } = readLedger(file);
  return header !== undefined && writerLives(header) ? [] : left;
}
