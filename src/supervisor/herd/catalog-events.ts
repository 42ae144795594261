import { differences } from '../catalog/catalog-change.js';
import { LIST_NAMES, type Lists } from '../catalog/lists.js';
import type { ProfileLens } from '../catalog/profile-lens.js';
import type { EventBus } from '../events/event-bus.js';
import type { ConfiguredServer } from '../server/configured-server.js';
import type { ViewServers } from '../view/view-servers.js';

export interface CatalogEventsOptions {
  servers: ViewServers;
  events: EventBus;
  /** Every agent has its own server; this one is shown in their place. */
  isPlaceholder(server: ConfiguredServer): boolean;
  /** The profile of the view; undefined: it has all tools of its servers. */
  lens(): ProfileLens | undefined;
  /** ISO 8601. */
  now(): string;
}

/** The `catalog` events of one view when its servers change. A change of one server's list has its own event. */
export class CatalogEvents {
  readonly #options: CatalogEventsOptions;

  constructor(options: CatalogEventsOptions) {
    this.#options = options;
  }

  /** The lists of each server, as far as they are known. Only with listeners: to look them up may read the disk. */
  knownLists(): Map<string, Lists> {
    const servers = this.#hasListeners ? this.#options.servers.servers : [];
    return new Map(servers.map((server) => [server.spec.name, this.#listsOf(server)]));
  }

  #listsOf({ spec, catalog }: ConfiguredServer): Lists {
    const lists = catalog.knownLists();
    const lens = this.#options.lens();
    if (lens === undefined || lists.tools === undefined) return lists;
    return { ...lists, tools: [...lens.tools(spec.name, lists.tools)] };
  }

  /** The tools of these servers may have other names or definitions now, or may be gone. */
  renamed(names: readonly string[]): void {
    const { servers, events, lens, now } = this.#options;
    for (const name of names) {
      const known = servers.get(name)?.catalog.knownLists().tools ?? [];
      const count = lens()?.tools(name, known).length ?? known.length;
      const change = { list: 'tools' as const, count, added: [], removed: [], changed: [] };
      events.emit('catalog', name, () => ({ ...change, at: now() }));
    }
  }

  /** The servers of the view have changed. The lists of a removed or replaced server are gone with it. */
  changed(before: ReadonlyMap<string, Lists>, names: readonly string[]): void {
    this.#emitDifferences(before, this.knownLists());
    this.#announce(names);
  }

  /** One server was added to those that are there. */
  added(name: string): void {
    this.#announce([name]);
    if (!this.#hasListeners) return;
    const lists = this.#listsOf(this.#options.servers.find(name));
    this.#emitDifferences(new Map(), new Map([[name, lists]]));
  }

  get #hasListeners(): boolean {
    return this.#options.events.hasListeners('catalog');
  }

  #emitDifferences(before: ReadonlyMap<string, Lists>, after: ReadonlyMap<string, Lists>): void {
    const { events, now } = this.#options;
    for (const [name, change] of differences(before, after))
      events.emit('catalog', name, () => ({ ...change, at: now() }));
  }

  /**
   * The lists of a `per-agent` server are not known before an agent has its own, which it gets when it lists. Agents that
   * have listed before get a change event, so that they list again.
   */
  #announce(names: readonly string[]): void {
    if (!this.#hasListeners) return;
    const { servers, events, isPlaceholder, now } = this.#options;
    const placeholders = names.map((name) => servers.find(name)).filter(isPlaceholder);
    const unknown = placeholders.filter(({ spec, catalog }) => spec.enabled && catalog.missing().length > 0);
    const none = { count: 0, added: [], removed: [], changed: [] };
    for (const { spec } of unknown)
      for (const list of LIST_NAMES) events.emit('catalog', spec.name, () => ({ list, ...none, at: now() }));
  }
}
