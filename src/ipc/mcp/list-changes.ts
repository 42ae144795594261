import type { Fleet, ListName } from '../../fleet/fleet.js';
import type { Clock } from '../../shared/clock.js';

export interface ListChangesOptions {
  fleet: Pick<Fleet, 'subscribe'>;
  clock: Clock;
  /** Whether the client sees this server. */
  isShown(server: string): boolean;
  notify(list: ListName): void;
}

/** Changes within this time become one notification: a herd that starts changes its lists a dozen times. */
const QUIET_MS = 100;

/** Listens for changed lists. Returns a function that ends it. */
export function onListChanges({ fleet, clock, isShown, notify }: ListChangesOptions): () => void {
  const changed = new Set<ListName>();
  let timer: unknown;
  const notifyAll = () => {
    const lists = [...changed];
    changed.clear();
    for (const list of lists) notify(list);
  };
  const end = fleet.subscribe(['catalog'], (event) => {
    if (event.topic !== 'catalog' || !isShown(event.server)) return;
    if (changed.size === 0) timer = clock.setTimeout(notifyAll, QUIET_MS);
    changed.add(event.list);
  });
  return () => {
    end();
    clock.clearTimeout(timer);
  };
}
