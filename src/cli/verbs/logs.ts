import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { serverLogName } from '../../log/server-log-name.js';
import { didYouMean } from '../../near-miss.js';
import { EXIT } from '../exit-codes.js';
import { quoted } from '../plain-text.js';
import { readSmallTail } from '../tail.js';
import { type Call, UsageError, type Verb } from '../verb.js';

/** One line of a log as it was written. */
interface Entry {
  time: string;
  level: string;
  server: string | null;
  source: string | null;
  text: string;
}

const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};

export const verb: Verb = {
  usage: 'logs [SERVER…] [-n N]',
  about: `Shows what servers wrote to stderr, and what toolherd noted about them. Without SERVER: the daemon's own log.
The files are read as they are, also when no daemon runs.`,
  help: `Examples:
  toolherd logs github
  toolherd logs github memory -n 20
  toolherd logs                        the daemon itself`,
  options: { lines: { type: 'string', short: 'n' } },
  most: Number.POSITIVE_INFINITY,
  async run(call) {
    const { args, flags, output } = call;
    const most = flags.lines === undefined ? 50 : Number(flags.lines);
    if (!Number.isInteger(most) || most < 1)
      throw new UsageError('-n wants a whole number', 'for example -n 20');
    const found = args.length === 0 ? read(call, null) : args.flatMap((name) => read(call, name));
    const entries = found.sort((a, b) => (a.time < b.time ? -1 : 1)).slice(-most);
    output.json({ entries });
    for (const { time, level, server, source, text } of entries) {
      const who = server === null || args.length < 2 ? '' : ` ${server}`;
      output.print(`${time} ${level}${who}${source === null ? '' : ` ${source}:`} ${quoted(text)}`);
    }
    const silent = args.filter((name) => !found.some(({ server }) => server === name));
    for (const name of silent)
      output.note(`nothing was logged about '${name}'. ${nearName(call, name)}`.trim());
    if (args.length === 0 && entries.length === 0) output.note('nothing was logged');
    return EXIT.ok;
  },
};

/** Of those that have a log: the files are all that is asked. */
function nearName({ paths }: Call, name: string): string {
  try {
    const files = readdirSync(join(paths.logFolder, 'servers'));
    const encoded = files
      .filter((file) => file.endsWith('.log'))
      .map((file) => file.slice(0, -'.log'.length));
    return didYouMean(name, encoded.map(decodeURIComponent));
  } catch {
    // no server has run here, or a file is none of ours
    return '';
  }
}

function read({ paths }: Call, server: string | null): Entry[] {
  const file = server === null ? 'daemon.log' : join('servers', `${serverLogName(server)}.log`);
  return readSmallTail(join(paths.logFolder, file)).flatMap((line) => {
    try {
      const { time, level, source = null, logger = source, msg = '' } = JSON.parse(line);
      return [
        { time: String(time), level: LEVELS[level] ?? 'info', server, source: logger, text: String(msg) },
      ];
    } catch {
      // the first line of what was read is usually half of one
      return [];
    }
  });
}
