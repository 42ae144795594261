import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isRunning, startTimeOf } from './process-identity.js';
import { type LedgerHeader, readLedger } from './read-ledger.js';

/** Every ledger of a state folder: `path`, and those of daemons that started while another daemon had `path`. */
export function ledgersAt(path: string): string[] {
  const others = new RegExp(`^${basename(path)}-[\\da-f]+$`);
  try {
    const found = readdirSync(dirname(path)).filter((name) => others.test(name));
    return [path, ...found.map((name) => join(dirname(path), name))];
  } catch {
    return [path];
  }
}

/** Where a new daemon keeps its ledger. Daemons with different sockets may share a state folder: each has its ledger. */
export function freeLedger(path: string, daemonId: string): string {
  const { header } = readLedger(path);
  return header !== undefined && writerLives(header) ? `${path}-${daemonId}` : path;
}

/** A zombie is dead. Without a start time the pid alone counts: it is worse to kill the servers of a living daemon. */
export function writerLives({ pid, startTime }: LedgerHeader): boolean {
  return isRunning(pid) && (startTime === null || startTimeOf(pid) === startTime);
}
