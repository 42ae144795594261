import { type ActorRefFrom, type EventObject, fromCallback, waitFor } from 'xstate';
import { keeperMachine } from '../../machines/keeper.js';
import type { LinkInput, LinkOrder } from '../../machines/link-protocol.js';
import type { PermitInput, PermitReport } from '../../machines/permit.js';
import type { ServerMachine } from '../../machines/server.js';
import { serverMachine } from '../../machines/server.js';
import type { Clock } from '../../shared/clock.js';
import type { LinkPort } from './link-actor.js';

/** What an incarnation acts upon. The machine gets it with its settings. */
export interface IncarnationHost {
  link(port: LinkPort): () => void;
  openGate(): void;
  sealGate(): void;
  reap(): void;
}

export interface KeeperHost extends IncarnationHost {
  /** Asks for a permit to start; returns the function that gives it back. */
  permit(granted: () => void): () => void;
}

/** The machines pass their host on as `unknown`: each settings object here has one. */
const incarnationHost = ({ host }: { host?: unknown }) => host as IncarnationHost;
const keeperHost = ({ host }: { host?: unknown }) => host as KeeperHost;

/** A link as the actor that a server machine invokes. */
export const linkLogic = fromCallback<LinkOrder, LinkInput>((port) => incarnationHost(port.input).link(port));

/** A permit as the actor that a keeper invokes. */
export const permitLogic = fromCallback<EventObject, PermitInput>(({ input, sendBack }) =>
  keeperHost(input).permit(() => sendBack({ type: 'permit.granted' } satisfies PermitReport)),
);

/**
 * Both machines, provided once for all servers: each finds its own host in its input. To build a chart takes
 * milliseconds, and a herd of twenty would build forty of them before it serves, a transient server one with every call.
 */
export const sharedServer = serverMachine.provide({
  actors: { link: linkLogic },
  actions: {
    openGate: ({ context }) => incarnationHost(context).openGate(),
    sealGate: ({ context }) => incarnationHost(context).sealGate(),
    reap: ({ context }) => incarnationHost(context).reap(),
  },
});

export const sharedKeeper = keeperMachine.provide({
  actors: { server: sharedServer, permit: permitLogic },
  actions: { reap: ({ context }) => incarnationHost(context.server).reap() },
});

/** The herd's clock for an actor: XState needs only two functions, for timers. */
export function actorClock(clock: Clock) {
  return {
    setTimeout: (fire: (...args: unknown[]) => void, ms: number) => clock.setTimeout(fire, ms),
    clearTimeout: (timer: unknown) => clock.clearTimeout(timer),
  };
}

/** Resolves when an incarnation reads no lists: they were read, or will not be. One that broke reads none either. */
export async function whenListsRead(incarnation: ActorRefFrom<ServerMachine>): Promise<void> {
  await waitFor(incarnation, (snapshot) => !snapshot.hasTag('reading')).catch(() => undefined);
}
