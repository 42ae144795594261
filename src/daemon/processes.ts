import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { removeContainers } from '../link/stdio/docker.js';
import { childEnvironment } from '../link/stdio/environment.js';
import { type KilledOrphans, killOrphans } from '../processes/kill-orphans.js';
import { Ledger } from '../processes/ledger.js';
import { ProcessTable } from '../processes/table.js';
import { Watchdog } from '../processes/watchdog.js';
import type { Clock } from '../shared/clock.js';
import type { Environment } from '../shared/environment.js';

/** The table, ledger and watchdog that let no process outlive the daemon, however the daemon ends. */
export interface Processes {
  table: ProcessTable;
  /** Kills the processes that are left, and stops the watchdog. */
  close(): Promise<void>;
}

export interface EndedOrphans extends Pick<KilledOrphans, 'names' | 'pids' | 'unread'> {
  /** How many containers were removed. */
  containers: number;
  /** Docker failed, so containers may be left. */
  dockerFailed: boolean;
}

/** Kills the processes of a ledger whose writer is dead, and removes their containers. */
export async function endOrphans(
  ledgerFile: string,
  clock: Clock,
  environment: Environment,
): Promise<EndedOrphans> {
  const { names, pids, containers, unread } = await killOrphans(ledgerFile, clock);
  // a container outlives its docker client, which was killed with the daemon
  const nothing = { env: {}, config: undefined };
  const removed = await Promise.all(
    containers.map(({ docker, cookie }) =>
      removeContainers(docker, cookie, childEnvironment(environment, nothing, cookie)),
    ),
  );
  const count = removed.flatMap((ids) => ids ?? []).length;
  return { names, pids, unread, containers: count, dockerFailed: removed.includes(undefined) };
}

/** Kills the processes that an earlier daemon left, then opens a new ledger. */
export async function openProcesses(
  ledgerFile: string,
  clock: Clock,
  environment: Environment,
  log: (text: string) => void,
): Promise<Processes> {
  mkdirSync(dirname(ledgerFile), { recursive: true, mode: 0o700 });
  const { names, pids, containers, dockerFailed, unread } = await endOrphans(ledgerFile, clock, environment);
  if (unread !== undefined) {
    log(
      `the ledger ${ledgerFile} could not be read whole: ${unread}. What an earlier daemon left may not all have been found: look with "ps" for servers that this daemon did not start, and end them. A new ledger is begun`,
    );
  }
  if (containers > 0) log(`removed ${containers} containers that an earlier daemon left`);
  if (dockerFailed) log('docker did not say whether an earlier daemon left containers');
  if (pids.length > 0) log(`ended ${pids.length} processes that an earlier daemon left: ${names.join(', ')}`);
  const table = new ProcessTable({ daemonId: randomBytes(8).toString('hex'), clock });
  const ledger = new Ledger(ledgerFile, table, log);
  const watchdog = new Watchdog({ table, clock, log });
  return {
    table,
    async close() {
      await table.killAll();
      await watchdog.stop();
      ledger.close();
    },
  };
}
