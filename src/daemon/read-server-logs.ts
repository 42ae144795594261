import { join } from 'node:path';
import type { LogEntry, LogParams } from '../fleet/fleet.js';
import { readLog } from '../log/read-log.js';
import { serverLogName } from '../log/server-log-name.js';
import { isAtLeast } from '../shared/mcp/log-levels.js';
import type { HerdView } from '../supervisor/herd/herd-view.js';

const DEFAULT_TAIL = 100;
const MAX_TAIL = 1000;

/** Lines of the logs of a view's servers. Servers of other views may share a file; their lines are left out. */
export async function readServerLogs(
  view: HerdView,
  folder: string,
  { server, tail = DEFAULT_TAIL, since, level = 'trace' }: LogParams = {},
): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  const begin = since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since);
  for (const { name, tag } of view.logOwnerTags(server)) {
    const lines = await readLog(join(folder, 'servers', `${serverLogName(name)}.log`));
    for (const { of, ...line } of lines) {
      if (of !== tag || Date.parse(line.time) < begin || !isAtLeast(line.level, level)) continue;
      entries.push({ ...line, server: name });
    }
  }
  return entries.sort(byTime).slice(-Math.min(tail, MAX_TAIL));
}

function byTime(a: LogEntry, b: LogEntry): number {
  return a.time === b.time ? 0 : a.time < b.time ? -1 : 1;
}
