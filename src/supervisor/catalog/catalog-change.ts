import type { JsonObject } from '../../shared/json.js';
import { LIST_NAMES, type ListName, type Lists, NO_LISTS, partsOf } from './lists.js';
import { KEY } from './validate-entries.js';

/** How one list differs from what it was, by the keys of its entries. */
export interface CatalogChange {
  list: ListName;
  count: number;
  added: string[];
  removed: string[];
  changed: string[];
  /** Of these tools it was just found that they are not what was pinned. Absent where there are none. */
  unaccepted?: string[];
}

/** Undefined when the list offers what it did: in which order does not matter. */
function changeOf(list: ListName, before: Lists, after: Lists): CatalogChange | undefined {
  const old = entriesOf(list, before);
  const now = entriesOf(list, after);
  const added = [...now.keys()].filter((key) => !old.has(key));
  const removed = [...old.keys()].filter((key) => !now.has(key));
  const changed = [...now].filter(([key, text]) => old.has(key) && old.get(key) !== text).map(([key]) => key);
  if (added.length + removed.length + changed.length === 0) return undefined;
  return { list, count: now.size, added, removed, changed };
}

/** How all lists of one server differ. */
export function changesOf(before: Lists, after: Lists): CatalogChange[] {
  return LIST_NAMES.flatMap((name) => changeOf(name, before, after) ?? []);
}

/** Those who hear of a list hear of what is not as it was pinned, also where the list itself is as they know it. */
export function withChanges(
  changes: CatalogChange[],
  { tools = [] }: Lists,
  news: readonly string[],
): CatalogChange[] {
  if (news.length === 0) return changes;
  const none: CatalogChange = { list: 'tools', count: tools.length, added: [], removed: [], changed: [] };
  const change = changes.find(({ list }) => list === 'tools') ?? none;
  return [{ ...change, unaccepted: [...news] }, ...changes.filter((other) => other !== change)];
}

/** How what is known of several servers differs; one that is not there offers nothing. */
export function differences(
  before: ReadonlyMap<string, Lists>,
  after: ReadonlyMap<string, Lists>,
): [server: string, change: CatalogChange][] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((server) => {
    const [old = NO_LISTS, now = NO_LISTS] = [before.get(server), after.get(server)];
    // servers that were not touched have the very same lists
    return old === now
      ? []
      : changesOf(old, now).map((change) => [server, change] as [string, CatalogChange]);
  });
}

/** A server has one notification for its resources and their templates, so they are told as one. */
function entriesOf(list: ListName, lists: Lists): Map<string, string> {
  return new Map(
    partsOf(list).flatMap((part) =>
      (lists[part] ?? []).map((item: JsonObject) => [String(item[KEY[part]]), JSON.stringify(item)] as const),
    ),
  );
}
