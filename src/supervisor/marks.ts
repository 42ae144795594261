import type { Catalog } from './catalog.js';
import type { Lists } from './lists.js';

/** What we say of an entry, beside what its server said. */
export interface Marks {
  problem?: string;
  cached?: true;
}

export function marksOf(catalog: Catalog, list: keyof Lists, key: string): Marks {
  const problem = catalog.problemOf(list, key);
  return {
    ...(problem === undefined ? {} : { problem }),
    ...(catalog.isCached ? { cached: true } : {}),
  };
}
