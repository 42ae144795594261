import type { Unwatch } from '../../link.js';
import type { Session } from '../../session/session.js';
import type { Negotiation } from './negotiation.js';

/** Asks a server to tell when a resource changes, in the words of its era. */
export async function watchResource(session: Session, driver: Negotiation, uri: string): Promise<Unwatch> {
  const listening = driver.watch(uri);
  if (listening !== undefined) return listening;
  await session.call('resources/subscribe', { uri });
  return async () => void (await session.call('resources/unsubscribe', { uri }));
}
