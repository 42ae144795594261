import type { LogEntry, LogParams } from '../fleet/fleet.js';
import { serverLog } from '../log/log-paths.js';
import { newestEntries, readLog } from '../log/read-log.js';
import type { HerdView } from '../supervisor/herd/herd-view.js';
import type { ClusterNodes } from './cluster/cluster-nodes.js';
import type { OtherHerds } from './other-herds.js';

const DEFAULT_TAIL = 100;
const MAX_TAIL = 1000;

interface ServerLogs {
  view: HerdView;
  folder: string;
  herds: Pick<OtherHerds, 'logs'>;
  cluster: Pick<ClusterNodes, 'logs'>;
}

/** Lines of the logs of a view's servers. Servers of other views may share a file; their lines are left out. */
export async function readServerLogs(
  { view, folder, herds, cluster }: ServerLogs,
  { server, tail = DEFAULT_TAIL, since, level = 'trace' }: LogParams = {},
): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for (const { name, tag } of view.logOwnerTags(server)) {
    for (const { of, ...line } of await readLog(serverLog(folder, name)))
      if (of === tag) entries.push({ ...line, server: name });
  }
  const spec = view.specs.find(({ name }) => name === server);
  // the daemon of its herd has logged what the server said
  if (spec?.transport === 'herd') {
    const own = entries.filter(({ source }) => source === 'link' || source === 'toolherd');
    entries.splice(0, entries.length, ...own, ...(await herds.logs(spec, { tail, since, level })));
  }
  if (spec?.cluster !== undefined) entries.push(...(await cluster.logs(spec, { tail, since, level })));
  return newestEntries(entries, {
    since: since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since),
    level,
    most: Math.min(tail, MAX_TAIL),
  });
}
