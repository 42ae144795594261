import type { Socket } from 'node:net';
import { toErrorObject } from '../ipc/jsonrpc/rpc-error.js';
import { Descriptors } from '../ipc/socket/descriptors.js';
import { refuseConnection } from '../ipc/socket/refuse-connection.js';
import { OverloadedError } from '../shared/call-errors.js';
import type { Clock } from '../shared/clock.js';

export interface ConnectionLimitOptions {
  enter(socket: Socket): void;
  /** Anybody can come to this door, so whoever is turned away there is told nothing. */
  isPublic?: boolean;
  warn(text: string): void;
  clock: Clock;
  descriptors?: Descriptors;
}

/** So many may hear at once that there is no room: they take some of what is left. */
const MOST_TURNED_AWAY = 4;
/** It is written down this often. */
const TELL_MS = 60_000;

/** Lets connections in while there are files left for what is more important: servers, logs, the ledger. */
export function limitConnections(options: ConnectionLimitOptions) {
  const { enter, isPublic = false, warn, clock, descriptors = new Descriptors() } = options;
  let turnedAway = 0;
  let toldAt = Number.NEGATIVE_INFINITY;
  return (socket: Socket): void => {
    if (!descriptors.areShort(socket)) {
      enter(socket);
      return;
    }
    const error = noRoom(descriptors.limit);
    if (clock.now() - toldAt > TELL_MS) {
      toldAt = clock.now();
      warn(`connections are turned away: ${error.message}; ${error.fix}`);
    }
    if (isPublic || turnedAway >= MOST_TURNED_AWAY) {
      socket.destroy();
      return;
    }
    turnedAway += 1;
    refuseConnection(
      socket,
      toErrorObject(error)!,
      () => {
        turnedAway -= 1;
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
      why: 'every connection and every server takes some; the last few are kept for what runs',
      fix: `close a connection and try again, or raise the limit: prlimit --pid ${process.pid} --nofile=4096, or "ulimit -n 4096" before "toolherd up --replace"`,
    },
  );
}
