import type { Socket } from 'node:net';
import { toErrorObject } from '../ipc/jsonrpc/rpc-error.js';
import { Descriptors } from '../ipc/socket/descriptors.js';
import { refuseConnection } from '../ipc/socket/refuse-connection.js';
import { OverloadedError } from '../shared/call-errors.js';
import type { Clock } from '../shared/clock.js';

export interface ConnectionLimitOptions {
  accept(socket: Socket): void;
  /** Every user of the machine can connect, so a refused connection is closed without a reply. */
  isPublic?: boolean;
  warn(text: string): void;
  clock: Clock;
  descriptors?: Descriptors;
}

/** How many refused connections may be open at once: each takes one of the last descriptors for its reply. */
const MAX_REFUSED = 4;
/** At most one warning in this time. */
const WARN_MS = 60_000;

/** Refuses connections when file descriptors run out: servers, logs and the ledger need the last ones. */
export function limitConnections(options: ConnectionLimitOptions) {
  const { accept, isPublic = false, warn, clock, descriptors = new Descriptors() } = options;
  let refused = 0;
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (socket: Socket): void => {
    if (!descriptors.areShort(socket)) {
      accept(socket);
      return;
    }
    const error = noRoom(descriptors.limit);
    if (clock.now() - warnedAt > WARN_MS) {
      warnedAt = clock.now();
      warn(`connections are turned away: ${error.message}; ${error.fix}`);
    }
    if (isPublic || refused >= MAX_REFUSED) {
      socket.destroy();
      return;
    }
    refused += 1;
    refuseConnection(
      socket,
      toErrorObject(error)!,
      () => {
        refused -= 1;
      },
      clock,
    );
  };
}

function noRoom(limit: number): OverloadedError {
  return new OverloadedError(
    `the daemon may have ${limit} files open and has no room for another connection`,
    {
      retryable: true,
      why: 'every connection and every server uses file descriptors; the daemon keeps the last ones for its servers and logs',
      fix: `close a connection and try again, or raise the limit: prlimit --pid ${process.pid} --nofile=4096, or "ulimit -n 4096" before "toolherd up --replace"`,
    },
  );
}
