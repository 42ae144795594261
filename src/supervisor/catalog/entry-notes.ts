import type { Catalog } from './catalog.js';
import type { ListKey } from './lists.js';

/** What we say of an entry, beside what its server said. */
export interface EntryNotes {
  problem?: string;
  cached?: true;
}

export function entryNotes(catalog: Catalog, list: ListKey, key: string): EntryNotes {
  const problem = catalog.problemOf(list, key);
  return {
    ...(problem === undefined ? {} : { problem }),
    ...(catalog.states.get(list)?.freshness === 'cached' ? { cached: true } : {}),
  };
}
