import type { JsonObject } from '../link/session/message.js';
import { KEY } from './definitions.js';
import type { ListName, Lists } from './lists.js';

/** How one list differs from what it was, by the keys of its entries. */
export interface CatalogChange {
  list: ListName;
  count: number;
  added: string[];
  removed: string[];
  changed: string[];
}

/** Undefined when the list offers what it did: in which order does not matter. */
export function changeOf(list: ListName, before: Lists, after: Lists): CatalogChange | undefined {
  const old = entriesOf(list, before);
  const now = entriesOf(list, after);
  const added = [...now.keys()].filter((key) => !old.has(key));
  const removed = [...old.keys()].filter((key) => !now.has(key));
  const changed = [...now].filter(([key, text]) => old.has(key) && old.get(key) !== text).map(([key]) => key);
  if (added.length + removed.length + changed.length === 0) return undefined;
  return { list, count: now.size, added, removed, changed };
}

/** A server has one notification for its resources and their templates, so they are told as one. */
function entriesOf(list: ListName, lists: Lists): Map<string, string> {
  const parts: readonly (keyof Lists)[] = list === 'resources' ? ['resources', 'templates'] : [list];
  return new Map(
    parts.flatMap((part) =>
      (lists[part] ?? []).map((item: JsonObject) => [String(item[KEY[part]]), JSON.stringify(item)] as const),
    ),
  );
}
