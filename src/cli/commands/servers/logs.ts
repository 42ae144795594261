import type { Fleet, LogEntry, LogEvent } from '../../../fleet/fleet.js';
import { daemonLog, serverLog, serversWithLogs } from '../../../log/log-paths.js';
import { type LogFilter, type LogLine, LogTail, newestEntries, readLog } from '../../../log/read-log.js';
import { ToolherdError } from '../../../shared/errors.js';
import { isAtLeast, LOG_LEVELS } from '../../../shared/mcp/log-levels.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import { didYouMean } from '../../../shared/text/near-miss.js';
import { shellWord } from '../../../shared/text/shell-word.js';
import { type CommandContext, defineCommand, UsageError } from '../../core/command.js';
import { knownServers } from '../../core/known-servers.js';
import { limitByTimeoutOption } from '../../core/timeout.js';
import { quoted, singleLine } from '../../ui/text.js';
import { follow } from './follow.js';

export const command = defineCommand({
  name: 'logs',
  summary: 'Shows what servers wrote to stderr, and what toolherd logged about them.',
  details: `Without SERVER it shows the logs of the daemon and of all servers together, with
-f too; with --daemon that of the daemon alone.
It reads the log files, so it also works while no daemon runs.
With -f it also prints every new line, until the daemon ends or --timeout
passes.
With -f and --json each entry is one line.`,
  args: { servers: { label: 'SERVER', optional: true, many: true, complete: 'any server' } },
  options: {
    follow: { type: 'boolean', short: 'f', about: 'also print every new line' },
    lines: {
      type: 'integer',
      short: 'n',
      min: 1,
      default: 50,
      about: 'how many of each SERVER, or of all together (default: 50)',
    },
    daemon: { type: 'boolean', about: 'the log of the daemon alone' },
    since: { type: 'duration', label: '10m', about: 'only entries that are not older' },
    level: {
      type: 'string',
      label: 'LEVEL',
      choices: LOG_LEVELS,
      default: 'trace',
      about: `this and above: ${LOG_LEVELS.join(', ')}`,
    },
  },
  examples: [
    'toolherd logs github',
    'toolherd logs github memory -n 20',
    'toolherd logs github --since 10m --level warn',
    'toolherd logs github -f',
    ['toolherd logs -f', 'the daemon and all servers'],
    'toolherd logs --daemon -n 20',
  ],
  exits: {
    ok: 'ok',
    notFound: 'no such server',
    notRunning: 'with -f: no daemon runs, or it has ended',
    timeout: '--timeout has passed',
    interrupted: 'with -f: interrupted',
  },
  ownTimeout: true,
  async run(context) {
    const { args, options } = context;
    if (options.daemon && args.servers.length > 0)
      throw new UsageError('--daemon is the log of the daemon alone', 'leave out --daemon, or the servers');
    const wanted: Wanted = {
      servers: args.servers,
      daemon: options.daemon,
      most: options.lines,
      since: options.since === undefined ? Number.NEGATIVE_INFINITY : Date.now() - options.since,
      level: options.level,
    };
    if (!options.follow) {
      const entries = await limitByTimeoutOption(context, readEntries(context, wanted));
      context.output.json({ entries });
      for (const entry of entries) print(context, wanted, entry);
      return EXIT.ok;
    }
    return follow(context, async (fleet) => {
      const show = (entry: LogEntry) => {
        context.output.jsonLine({ ...entry });
        print(context, wanted, entry);
      };
      // it subscribes before it reads: entries in between are kept
      let early: LogEntry[] | undefined = [];
      fleet.subscribe(['log'], (event) => {
        if (event.topic !== 'log' || !isNamed(wanted, event.server)) return;
        const entry = entryOfEvent(event);
        if (!isAtLeast(entry.level, wanted.level)) return;
        if (early === undefined) show(entry);
        else early.push(entry);
      });
      const tail = new LogTail(daemonLog(context.paths.logFolder));
      await noteOthers(context, wanted, fleet);
      const entries = await readEntries(context, wanted);
      const last = entries.at(-1)?.time ?? '';
      for (const entry of [...entries, ...early.filter(({ time }) => time > last)]) show(entry);
      early = undefined;
      if (hasDaemon(wanted)) followDaemon(tail, wanted, last, show);
    });
  },
});

/** The most that a daemon sends. */
const MOST_ELSEWHERE = 1000;

/** How often the log of the daemon is looked at: it sends no events about itself. */
const LOOK_MS = 200;

/** Until the command ends. `last`: the time of the last entry that was shown already. */
function followDaemon(tail: LogTail, { level }: Wanted, last: string, show: (entry: LogEntry) => void): void {
  const look = async () => {
    for (const line of await tail.next())
      if (line.time > last && isAtLeast(line.level, level)) show(entryOf(line, null));
    setTimeout(look, LOOK_MS).unref();
  };
  void look();
}

/** A connection gets log events only from the servers of its view: warns about named servers of other agents. */
async function noteOthers(
  { output }: CommandContext,
  { servers: named }: Wanted,
  fleet: Fleet,
): Promise<void> {
  const { servers } = await fleet.status();
  const own = new Set(servers.flatMap(({ name, other_view }) => (other_view === true ? [] : [name])));
  for (const { name, agent } of servers)
    if (named.includes(name) && !own.has(name))
      output.note(
        singleLine(
          `warning: '${name}' is a server of ${agent}; to follow it add: --agent ${shellWord(agent ?? '')}`,
        ),
      );
}

interface Wanted extends LogFilter {
  /** None: the daemon and all servers. */
  servers: readonly string[];
  /** The daemon alone. */
  daemon: boolean;
}

function hasDaemon({ servers, daemon }: Wanted): boolean {
  return daemon || servers.length === 0;
}

/** All agents share the files: one file has the entries of all servers of its name. */
async function readEntries(context: CommandContext, wanted: Wanted): Promise<LogEntry[]> {
  const { output } = context;
  const { servers: named } = wanted;
  const known = serversWithLogs(context.paths.logFolder);
  const servers = named.length > 0 ? named : [null, ...(wanted.daemon ? [] : known)];
  const elsewhere = named.length === 0 ? undefined : await fleetOf(context, named);
  const found = (await Promise.all(servers.map((server) => read(context, server, elsewhere)))).flat();
  const silent = named.filter((name) => !found.some(({ server }) => server === name));
  if (silent.length > 0) {
    // a server may have no log yet
    const names = new Set([...known, ...(await knownServers(context))]);
    for (const name of silent) {
      if (!names.has(name)) throw unknownServer(name, names);
      output.note(`nothing was logged about '${name}'`);
    }
  }
  const newest = named.flatMap((server) =>
    newestEntries(
      found.filter((entry) => entry.server === server),
      wanted,
    ),
  );
  const entries =
    named.length === 0
      ? newestEntries(found, wanted)
      : newestEntries(newest, { ...wanted, most: newest.length });
  if (named.length === 0 && entries.length === 0) output.note('nothing was logged');
  return entries;
}

class UnknownServerError extends ToolherdError {
  override readonly type = 'ServerNotFoundError';
}

function unknownServer(name: string, known: Iterable<string>): UnknownServerError {
  const near = didYouMean(name, known);
  const fix = near === '' ? 'see "toolherd list --all" and "toolherd status"' : near;
  return new UnknownServerError(`no server is called '${name}'`, { fix });
}

async function read(
  context: CommandContext,
  server: string | null,
  elsewhere: Elsewhere | undefined,
): Promise<LogEntry[]> {
  // the daemon of another herd, or of another node of the cluster, has the log of its server
  if (server !== null && elsewhere?.names.has(server))
    return elsewhere.fleet.logs({ server, tail: MOST_ELSEWHERE });
  const { logFolder } = context.paths;
  const lines = await readLog(server === null ? daemonLog(logFolder) : serverLog(logFolder, server));
  return lines.map((line) => entryOf(line, server));
}

interface Elsewhere {
  fleet: Fleet;
  /** Servers that other daemons run, too. */
  names: ReadonlySet<string>;
}

/** Undefined where no daemon runs: then the files of this machine are all there is. */
async function fleetOf(context: CommandContext, named: readonly string[]): Promise<Elsewhere | undefined> {
  const fleet = await context.fleet({ autostart: false, viewMode: 'herd' }).catch(() => undefined);
  if (fleet === undefined) return undefined;
  const { servers } = await fleet.status();
  const found = servers.filter(({ herd, nodes = [] }) => herd !== undefined || nodes.length > 0);
  return { fleet, names: new Set(found.map(({ name }) => name).filter((name) => named.includes(name))) };
}

function entryOf({ time, level, source, text }: LogLine, server: string | null): LogEntry {
  return { time, level, server, source, text };
}

function print(
  { output }: CommandContext,
  { servers, daemon }: Wanted,
  { time, level, server, source, text, node }: LogEntry,
): void {
  const isOne = servers.length === 1 || daemon;
  const who = isOne ? '' : ` ${server ?? '(daemon)'}`;
  const where = node === undefined ? '' : ` on ${node}`;
  output.print(`${time} ${level}${who}${where}${source === null ? '' : ` ${source}:`} ${quoted(text)}`);
}

/** As the log file has it: a message of MCP that names no logger comes from `mcp`. */
function entryOfEvent({ at, level, server, logger, message, mcp_level, node }: LogEvent): LogEntry {
  const source = logger ?? (mcp_level === undefined ? null : 'mcp');
  return { time: at, level, server, source, text: message, ...(node !== undefined && { node }) };
}

function isNamed({ servers, daemon }: Wanted, server: string): boolean {
  return !daemon && (servers.length === 0 || servers.includes(server));
}
