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
  /** Tools that differ from their pins, and were not reported before. Absent when there are none. */
  unaccepted?: string[];
}

/** Undefined when both lists have the same entries in any order. */
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

/** Subscribers of a list also get the tools that differ from their pins, even if the list itself has not changed. */
export function withUnaccepted(
  changes: CatalogChange[],
  { tools = [] }: Lists,
  unaccepted: readonly string[],
): CatalogChange[] {
  if (unaccepted.length === 0) return changes;
  const none: CatalogChange = { list: 'tools', count: tools.length, added: [], removed: [], changed: [] };
  const change = changes.find(({ list }) => list === 'tools') ?? none;
  return [{ ...change, unaccepted: [...unaccepted] }, ...changes.filter((other) => other !== change)];
}

/** How the known lists of several servers differ. A server that one side lacks has empty lists there. */
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

/** A server has one notification for its resources and their templates, so one event reports both. */
function entriesOf(list: ListName, lists: Lists): Map<string, string> {
  return new Map(
    partsOf(list).flatMap((part) =>
      (lists[part] ?? []).map((item: JsonObject) => [String(item[KEY[part]]), JSON.stringify(item)] as const),
    ),
  );
}
