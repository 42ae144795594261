import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

/**
 * The uid of the process at the other end of a loopback connection, from Linux's tables of sockets. Undefined where the
 * system does not tell it.
 */
export function userOf({
  remotePort,
  localPort,
}: Pick<Socket, 'remotePort' | 'localPort'>): number | undefined {
  for (const table of TABLES) {
    const uid = findUser(readTable(table), remotePort, localPort);
    if (uid !== undefined) return uid;
  }
  return undefined;
}

/** Columns: number, local address, remote address, state, queues, timer, retransmissions, uid. */
export function findUser(
  table: string,
  from: number | undefined,
  to: number | undefined,
): number | undefined {
  if (from === undefined || to === undefined) return undefined;
  for (const line of table.split('\n')) {
    const [, local = '', remote = '', , , , , uid] = line.trim().split(/\s+/);
    if (portOf(local) === from && portOf(remote) === to) return Number(uid);
  }
  return undefined;
}

function portOf(address: string): number {
  return Number.parseInt(address.slice(address.lastIndexOf(':') + 1), 16);
}

function readTable(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
