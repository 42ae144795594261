import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Fleet, LogEntry, LogEvent } from '../../../fleet/fleet.js';
import { readLog } from '../../../log/read-log.js';
import { serverLogName } from '../../../log/server-log-name.js';
import { isAtLeast, LOG_LEVELS } from '../../../shared/log-levels.js';
import { didYouMean } from '../../../shared/near-miss.js';
import { shellWord } from '../../../shared/shell-word.js';
import { type Command, type CommandContext, type Flags, UsageError } from '../../core/command.js';
import { parseDuration } from '../../core/duration.js';
import { EXIT } from '../../core/exit-codes.js';
import { quoted, singleLine } from '../../ui/text.js';
import { follow } from './follow.js';

export const verb: Command = {
  usage: 'logs [SERVER…] [-f] [-n N] [--since 10m] [--level warn]',
  about: `Shows what servers wrote to stderr, and what toolherd noted about them. Without SERVER: the daemon's own log.
The files are read as they are, also when no daemon runs.`,
  help: `With -f it goes on as long as the daemon runs, with every line that a server logs from now on (without SERVER: of all
servers). With --json and -f each entry is one line.

Examples:
  toolherd logs github
  toolherd logs github memory -n 20
  toolherd logs github --since 10m --level warn
  toolherd logs github -f
  toolherd logs                        the daemon itself

Exit status: 0 ok; with -f 3 no daemon runs, or it has ended, 130 interrupted.`,
  options: {
    lines: { type: 'string', short: 'n' },
    follow: { type: 'boolean', short: 'f' },
    since: { type: 'string' },
    level: { type: 'string' },
  },
  most: Number.POSITIVE_INFINITY,
  async run(call) {
    const wanted = filterOf(call.flags);
    if (call.flags.follow !== true) {
      const entries = await readEntries(call, wanted);
      call.output.json({ entries });
      for (const entry of entries) print(call, entry);
      return EXIT.ok;
    }
    return follow(call, async (fleet) => {
      const show = (entry: LogEntry) => {
        call.output.jsonLine({ ...entry });
        print(call, entry);
      };
      // it listens before it reads: what happens in between is kept
      let early: LogEntry[] | undefined = [];
      fleet.subscribe(['log'], (event) => {
        if (event.topic !== 'log' || !isNamed(call, event.server)) return;
        const entry = entryOf(event);
        if (!isAtLeast(entry.level, wanted.level)) return;
        if (early === undefined) show(entry);
        else early.push(entry);
      });
      await noteOthers(call, fleet);
      const entries = await readEntries(call, wanted);
      const last = entries.at(-1)?.time ?? '';
      for (const entry of [...entries, ...early.filter(({ time }) => time > last)]) show(entry);
      early = undefined;
    });
  },
};

/** A connection hears what the servers of its view log, and no others. */
async function noteOthers({ args, output }: CommandContext, fleet: Fleet): Promise<void> {
  const { servers } = await fleet.status();
  const own = new Set(servers.flatMap(({ name, other_view }) => (other_view === true ? [] : [name])));
  for (const { name, agent } of servers)
    if (args.includes(name) && !own.has(name))
      output.note(
        singleLine(
          `warning: '${name}' is a server of ${agent}; to follow it add: --agent ${shellWord(agent ?? '')}`,
        ),
      );
}

interface Filter {
  most: number;
  /** In milliseconds since 1970. */
  since: number;
  level: LogEntry['level'];
}

function filterOf({ lines, since, level = 'trace' }: Flags): Filter {
  const most = lines === undefined ? 50 : Number(lines);
  if (!Number.isInteger(most) || most < 1)
    throw new UsageError('-n wants a whole number', 'for example -n 20');
  const known = LOG_LEVELS.find((name) => name === level);
  if (known === undefined)
    throw new UsageError(`there is no level '${level}'`, `one of ${LOG_LEVELS.join(', ')}`);
  const begin = typeof since === 'string' ? Date.now() - parseDuration(since) : Number.NEGATIVE_INFINITY;
  return { most, since: begin, level: known };
}

/** The files are those of everybody: of a name that several agents use there is all in one. */
async function readEntries(call: CommandContext, { most, since, level }: Filter): Promise<LogEntry[]> {
  const { args, output } = call;
  const servers = args.length > 0 ? args : call.flags.follow === true ? serversWithLogs(call) : [null];
  const found = (await Promise.all(servers.map((server) => read(call, server)))).flat();
  const silent = args.filter((name) => !found.some(({ server }) => server === name));
  for (const name of silent)
    output.note(`nothing was logged about '${name}'. ${didYouMean(name, serversWithLogs(call))}`.trim());
  const entries = found
    .filter((entry) => Date.parse(entry.time) >= since && isAtLeast(entry.level, level))
    .sort((a, b) => (a.time === b.time ? 0 : a.time < b.time ? -1 : 1))
    .slice(-most);
  if (args.length === 0 && entries.length === 0) output.note('nothing was logged');
  return entries;
}

async function read({ paths }: CommandContext, server: string | null): Promise<LogEntry[]> {
  const file = server === null ? 'daemon.log' : join('servers', `${serverLogName(server)}.log`);
  const lines = await readLog(join(paths.logFolder, file));
  return lines.map(({ time, level, source, text }) => ({ time, level, server, source, text }));
}

function print(
  { args, flags, output }: CommandContext,
  { time, level, server, source, text }: LogEntry,
): void {
  const isOne = args.length === 1 || (args.length === 0 && flags.follow !== true);
  const who = server === null || isOne ? '' : ` ${server}`;
  output.print(`${time} ${level}${who}${source === null ? '' : ` ${source}:`} ${quoted(text)}`);
}

function entryOf({ at, level, server, logger, message }: LogEvent): LogEntry {
  return { time: at, level, server, source: logger, text: message };
}

function isNamed({ args }: CommandContext, server: string): boolean {
  return args.length === 0 || args.includes(server);
}

/** The files are all that is asked. */
function serversWithLogs({ paths }: CommandContext): string[] {
  try {
    const files = readdirSync(join(paths.logFolder, 'servers'));
    return files
      .filter((file) => file.endsWith('.log'))
      .map((file) => decodeURIComponent(file.slice(0, -'.log'.length)));
  } catch {
    // no server has run here, or a file is none of ours
    return [];
  }
}
