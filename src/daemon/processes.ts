import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { removeContainers } from '../link/stdio/docker.js';
import { childEnvironment } from '../link/stdio/environment.js';
import { type KilledOrphans, killOrphans } from '../processes/kill-orphans.js';
import { Ledger } from '../processes/ledger.js';
import { freeLedger, ledgersAt } from '../processes/ledger-files.js';
import { ProcessTable } from '../processes/table.js';
import { Watchdog } from '../processes/watchdog.js';
import type { Clock } from '../shared/clock.js';
import type { Environment } from '../shared/environment.js';
import { withFileLock } from '../shared/files/file-lock.js';

/** The table, ledger and watchdog that let no process outlive the daemon, however the daemon ends. */
export interface Processes {
  table: ProcessTable;
  /** Kills the processes that are left, and stops the watchdog. */
  close(): Promise<void>;
}

export interface EndedOrphans extends Pick<KilledOrphans, 'names' | 'pids' | 'unread' | 'isInUse'> {
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
  const { names, pids, containers, unread, isInUse } = await killOrphans(ledgerFile, clock);
  // a container outlives its docker client, which was killed with the daemon
  const nothing = { env: {}, config: undefined };
  const removed = await Promise.all(
    containers.map(({ docker, cookie }) =>
      removeContainers(docker, cookie, childEnvironment(environment, nothing, cookie)),
    ),
  );
  const count = removed.flatMap((ids) => ids ?? []).length;
  return { names, pids, unread, isInUse, containers: count, dockerFailed: removed.includes(undefined) };
}

/** Kills the processes that earlier daemons left, then opens a new ledger. */
export async function openProcesses(
  ledgerFile: string,
  clock: Clock,
  environment: Environment,
  log: (text: string) => void,
): Promise<Processes> {
  mkdirSync(dirname(ledgerFile), { recursive: true, mode: 0o700 });
  for (const file of ledgersAt(ledgerFile)) {
    const ended = await endOrphans(file, clock, environment);
    report(file, ended, log);
    // only the ledger lists the containers that docker did not remove
    if (!ended.isInUse && !ended.dockerFailed && file !== ledgerFile) rmSync(file, { force: true });
  }
  const table = new ProcessTable({ daemonId: randomBytes(8).toString('hex'), clock });
  const ledger = await openLedger(ledgerFile, table, log);
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

/** Locked, as two daemons with different sockets may start at once and both find that no daemon has the ledger. */
async function openLedger(path: string, table: ProcessTable, log: (text: string) => void): Promise<Ledger> {
  const open = () => new Ledger(freeLedger(path, table.daemonId), table, log);
  // where no lock can be made, the ledger reports that it cannot be written
  return withFileLock(`${path}.lock`, open).catch(open);
}

function report(file: string, ended: EndedOrphans, log: (text: string) => void): void {
  const { names, pids, containers, dockerFailed, unread } = ended;
  if (unread !== undefined) {
    log(
      `the ledger ${file} could not be read whole: ${unread}. What an earlier daemon left may not all have been found: look with "ps" for servers that this daemon did not start, and end them. A new ledger is begun`,
    );
  }
  if (containers > 0) log(`removed ${containers} containers that an earlier daemon left`);
  if (dockerFailed) log('docker did not say whether an earlier daemon left containers');
  if (pids.length > 0) log(`ended ${pids.length} processes that an earlier daemon left: ${names.join(', ')}`);
}
