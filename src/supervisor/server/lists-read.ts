import { type ActorRefFrom, waitFor } from 'xstate';
import type { ServerMachine } from '../../machines/server.js';
import { stateName } from '../../machines/state-name.js';

/** Resolves when an incarnation reads no lists: they were read, or will not be. One that broke reads none either. */
export async function whenListsRead(incarnation: ActorRefFrom<ServerMachine>): Promise<void> {
  const isReading = (name: string) => name === 'connected.discovering';
  await waitFor(incarnation, ({ value }) => !isReading(stateName(value))).catch(() => undefined);
}
