import { onTestFinished } from 'vitest';
import { type ConnectedFleet, connectFleet } from '../../src/library/connect-fleet.js';
import { type Entry, server } from '../faults/config.js';
import { type Home, killNow } from './herd.js';
import { seen, until } from './until.js';

/** It ignores every order to stop: a daemon that runs it takes 10 s to end, in which whole commands can run. */
export const slowServer = (stop = { close: 5, term: 5 }): Entry => server('slow', 'stubborn.mjs', { stop });

export interface SlowServer {
  fleet: ConnectedFleet;
  /** Ends it at once, and so lets the daemon end. Every test does so when it is over. */
  kill(): void;
}

/** Starts the slow server of a daemon, by hand: the next daemon does not have it running, and ends quickly. */
export async function startSlow({ socket }: Home): Promise<SlowServer> {
  const fleet = await connectFleet({ socket });
  onTestFinished(() => fleet.close());
  await fleet.start({ servers: ['slow'] }, true);
  const { pids } = await until(async () => {
    const [slow] = (await fleet.status(['slow'])).servers;
    return seen(slow)?.state === 'connected' ? slow : undefined;
  });
  const kill = () => pids.forEach(killNow);
  onTestFinished(kill);
  return { fleet, kill };
}
