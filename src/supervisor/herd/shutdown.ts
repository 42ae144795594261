import type { ShutdownReport } from '../../fleet/fleet.js';
import { shuttingDown } from '../../shared/call-errors.js';
import type { Clock } from '../../shared/clock.js';
import type { ConfiguredServer } from '../server/configured-server.js';

export interface ShutdownOptions {
  clock: Clock;
  graceMs: number;
  /** Ends whatever still runs when the grace is over. */
  kill(): Promise<void>;
  /** Others that are on their way out already. */
  leaving: readonly Promise<unknown>[];
}

/** Stops all servers at once and reports which had to be killed. Resolves when nothing is left. */
export async function stopAll(
  servers: readonly ConfiguredServer[],
  { clock, graceMs, kill, leaving }: ShutdownOptions,
): Promise<ShutdownReport> {
  const running = servers.filter((server) => server.snapshot().pids.length > 0);
  const before = new Map(running.map((server) => [server, server.lastStops]));
  for (const server of servers) server.stop(shuttingDown());
  let timer: unknown;
  const late = new Promise<'late'>((resolve) => {
    timer = clock.setTimeout(() => resolve('late'), graceMs);
  });
  const left = new Set(servers);
  const going = servers.map((server) => server.whenGone().then(() => left.delete(server)));
  const gone = Promise.all([...going, ...leaving]);
  const isLate = (await Promise.race([gone, late])) === 'late';
  const overdue = new Set(isLate ? left : []);
  if (isLate) await kill();
  await gone;
  clock.clearTimeout(timer);
  const wasKilled = (server: ConfiguredServer) =>
    overdue.has(server) ||
    server.lastStops.some(
      (ending) => !before.get(server)?.includes(ending) && 'killed' in ending && ending.killed,
    );
  const names = (some: readonly ConfiguredServer[]) => some.map(({ spec }) => spec.name);
  return {
    stopped: names(running.filter((server) => !wasKilled(server))),
    killed: names(running.filter(wasKilled)),
  };
}
