import type { CatalogEvent, Fleet } from '../../fleet/fleet.js';
import type { Clock } from '../../shared/clock.js';

export type ListName = CatalogEvent['list'];

export interface ListChangesOptions {
  fleet: Pick<Fleet, 'subscribe'>;
  clock: Clock;
  /** Whose news are wanted. */
  isShown(server: string): boolean;
  notify(list: ListName): void;
}

/** A herd that starts changes its lists a dozen times; a client is told once. */
const QUIET_MS = 100;

/** Listens for lists that changed. Answers with the way to end it. */
export function onListChanges({ fleet, clock, isShown, notify }: ListChangesOptions): () => void {
  const changed = new Set<ListName>();
  let timer: unknown;
  const tellAll = () => {
    const lists = [...changed];
    changed.clear();
    for (const list of lists) notify(list);
  };
  const end = fleet.subscribe(['catalog'], (event) => {
    if (event.topic !== 'catalog' || !isShown(event.server)) return;
    if (changed.size === 0) timer = clock.setTimeout(tellAll, QUIET_MS);
    changed.add(event.list);
  });
  return () => {
    end();
    clock.clearTimeout(timer);
  };
}
