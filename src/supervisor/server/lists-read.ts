import { type ActorRefFrom, waitFor } from 'xstate';
import type { ServerMachine } from '../../machines/server.js';

/** Resolves when an incarnation reads no lists: they were read, or will not be. One that broke reads none either. */
export async function whenListsRead(incarnation: ActorRefFrom<ServerMachine>): Promise<void> {
  await waitFor(incarnation, (snapshot) => !snapshot.hasTag('reading')).catch(() => undefined);
}
