import type { ServerSpec } from '../../config/fields/spec.js';
import type { Clock } from '../../shared/clock.js';
import type { JsonObject } from '../../shared/json.js';
import type { Block } from '../pins/blocked.js';
import type { ListSource, PinCheck, Pinning } from '../pins/pinning.js';
import type { ServerDeps } from '../server/server-deps.js';
import { identityOf } from '../spec-identity.js';
import { type CatalogChange, changesOf, withUnaccepted } from './catalog-change.js';
import { ListState } from './list-state.js';
import {
  isWanted,
  LIST_KEYS,
  LIST_METHODS,
  type ListKey,
  type ListName,
  type Lists,
  type ListsOwner,
  NO_LISTS,
  partsOf,
  type Reading,
  type ReadingOrder,
  type StoredCatalog,
} from './lists.js';
import { toolFilter } from './tool-filter.js';
import { type ValidEntries, validateEntries } from './validate-entries.js';

export interface CatalogOptions {
  /** Which lists the config wants. */
  wanted: readonly ListKey[];
  /** Whether the config lets a tool of this name be seen. */
  isVisible(tool: string): boolean;
  clock: Clock;
  log(text: string): void;
  /** A list that could not be read is to be read again. */
  reread(): void;
  /** Reads the lists of an earlier daemon from the disk. */
  recall?: (() => StoredCatalog | undefined) | undefined;
  keep?: ((catalog: StoredCatalog) => void) | undefined;
  changed?: ((change: CatalogChange) => void) | undefined;
  /** Compares the tools with their pins; undefined: they could not be read. */
  checkPins?: ((tools: readonly JsonObject[] | undefined, source: ListSource) => PinCheck) | undefined;
}

/** A request that waits: for which lists, and the version that each had when the wait began. */
interface Waiter {
  left: Map<ListKey, number>;
  done(): void;
}

/**
 * The lists of a server, as far as they are known, without what its config hides; and the requests that wait for them.
 * The cache of an earlier daemon is read by the first method that needs it, once: getters read no file.
 */
export class Catalog implements ListsOwner {
  readonly #options: CatalogOptions;
  /** Of each list that is wanted. */
  readonly #states: ReadonlyMap<ListKey, ListState>;
  readonly #waiters = new Set<Waiter>();
  #cache: 'unread' | 'read' = 'unread';
  #lists = NO_LISTS;
  #instructions: string | undefined;
  readonly #definitions: Partial<Record<ListKey, ValidEntries>> = {};
  /** The result of the last comparison of the tools with their pins. */
  #pinCheck: PinCheck | undefined;

  constructor(options: CatalogOptions) {
    this.#options = options;
    const { wanted, clock, reread: retry } = options;
    this.#states = new Map(wanted.map((key) => [key, new ListState({ clock, retry })]));
  }

  /** Reads the cache, unless it was read before. A cached list is compared with its pins, and changes none of them. */
  load(): void {
    if (this.#cache === 'read') return;
    this.#cache = 'read';
    const recalled = this.#options.recall?.();
    if (recalled === undefined) return;
    this.#instructions = recalled.instructions;
    // its faults were logged when it was first read
    this.#lists = this.#validated(recalled, NO_LISTS, () => {});
    for (const [list, state] of this.#states) if (this.#lists[list] !== undefined) state.recalled();
    if (this.#lists.tools !== undefined) this.#checkPins('cached');
  }

  knownLists(): Lists {
    this.load();
    return this.#lists;
  }

  /** What the server said of its use when it last ran; undefined where it said nothing, or never ran. */
  instructions(): string | undefined {
    this.load();
    return this.#instructions;
  }

  /** How well each list that is wanted is known. */
  listStates(): ReadonlyMap<ListKey, ListState> {
    this.load();
    return this.#states;
  }

  /** What may be used of a list, by its key; undefined while it is not known. */
  keysOf(list: ListKey): ReadonlySet<string> | undefined {
    this.load();
    return this.#definitions[list]?.keys;
  }

  /** What is wrong with a definition. */
  problemOf(list: ListKey, key: string): string | undefined {
    return this.#definitions[list]?.problems.get(key);
  }

  /** Those of these lists that are not known and have to be read. */
  missing(lists: readonly ListKey[] = LIST_KEYS): ListKey[] {
    const states = this.listStates();
    return lists.filter((list) => states.get(list)?.isMissing === true);
  }

  /** Whether this daemon or an earlier one has read some list. */
  wasRead(): boolean {
    return [...this.listStates().values()].some(({ isKnown }) => isKnown);
  }

  get isDue(): boolean {
    return [...this.#states.values()].some(({ isDue }) => isDue);
  }

  get isAwaited(): boolean {
    return this.#waiters.size > 0;
  }

  isDoubted(list: ListKey): boolean {
    return this.listStates().get(list)?.isDoubted === true;
  }

  toRead(isAllWanted: boolean): ReadingOrder {
    const isDue = (list: ListKey) => this.#states.get(list)?.isDue === true;
    return this.#versionsOf(LIST_KEYS.filter((list) => isAllWanted || isDue(list)));
  }

  /** True also when the list may be outdated: then the server decides whether it has the tool. */
  hasTool(name: string): boolean {
    if (!this.#options.isVisible(name)) return false;
    const keys = this.keysOf('tools');
    if (this.#pinCheck?.blockOf?.(name) !== undefined) return false;
    return keys?.has(name) !== false || this.isDoubted('tools');
  }

  /** Why a tool that is offered may not be called. Decided with its list, so that a call costs nothing. */
  blockOf(tool: string): Block | undefined {
    this.load();
    return this.#pinCheck?.blockOf?.(tool);
  }

  /** How many tools differ from their pins. */
  unacceptedTools(): number {
    this.load();
    return this.#pinCheck?.unaccepted ?? 0;
  }

  /** The pins, or the pin policy, have changed. */
  recheckPins(): void {
    if (this.#pinCheck === undefined) return;
    const tools = this.#lists.tools ?? [];
    const names = tools.map(({ name }) => String(name));
    const before = names.map((name) => this.blockOf(name) === undefined);
    this.#checkPins('known');
    const changed = names.filter((name, at) => (this.blockOf(name) === undefined) !== before[at]);
    if (changed.length === 0) return;
    this.#options.changed?.({ list: 'tools', count: tools.length, added: [], removed: [], changed });
  }

  /** A list that was not read, or could not be, stays what it was. */
  take(reading: Reading): void {
    this.load();
    const before = this.#lists;
    const isToldAnew = reading.instructions !== this.#instructions;
    this.#instructions = reading.instructions;
    this.#lists = this.#validated(reading, before, this.#options.log);
    const read = LIST_KEYS.filter((list) => list in reading);
    for (const list of read) this.#note(list, reading);
    if ('tools' in reading) this.#checkPins('read');
    const isMoreKnown = LIST_KEYS.some(
      (list) => before[list] === undefined && this.#lists[list] !== undefined,
    );
    const changes = changesOf(before, this.#lists);
    if (changes.length > 0 || isMoreKnown || isToldAnew)
      this.#options.keep?.({ ...this.#lists, instructions: this.#instructions });
    this.#report(changes, 'tools' in reading ? this.#pinCheck?.unreported : undefined);
    for (const waiter of [...this.#waiters]) {
      for (const list of read) if (answers(reading, list, waiter)) waiter.left.delete(list);
      if (waiter.left.size === 0) waiter.done();
    }
  }

  /** Marks these lists as stale; known entries stay until a reading replaces them. Returns those that the config wants. */
  outdate(lists: readonly ListKey[] = LIST_KEYS): ListKey[] {
    const wanted = lists.filter((list) => this.#states.has(list));
    for (const list of wanted) this.#states.get(list)?.doubt();
    return wanted;
  }

  doubt(list: ListName): void {
    this.outdate(partsOf(list));
  }

  suspend(): void {
    for (const state of this.#states.values()) state.suspend();
  }

  /**
   * Resolves when these lists were read by a reading that began later, or could not be read, when `giveUp` is called, or
   * when the time is up.
   */
  wait(lists: readonly ListKey[], ms: number, ask: (giveUp: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      const { clock } = this.#options;
      const done = () => {
        this.#waiters.delete(waiter);
        clock.clearTimeout(timer);
        resolve();
      };
      const waiter = { left: this.#versionsOf(lists), done };
      const timer = clock.setTimeout(done, ms);
      this.#waiters.add(waiter);
      ask(done);
    });
  }

  giveUp(): void {
    for (const { done } of [...this.#waiters]) done();
  }

  #versionsOf(lists: readonly ListKey[]): Map<ListKey, number> {
    return new Map(lists.map((list) => [list, this.#states.get(list)?.version ?? 0]));
  }

  /** A reason that stays the same is logged once. */
  #note(list: ListKey, { order, ttlMs, failures, ...found }: Reading): void {
    const state = this.#states.get(list);
    if (state === undefined) return;
    const { log } = this.#options;
    const { reason: before } = state;
    if (found[list] !== undefined) {
      state.read(order?.get(list), ttlMs?.[list]);
      if (before !== undefined) log(`${LIST_METHODS[list]} could be read again`);
      return;
    }
    const reason = failures?.[list] ?? 'no reason was given';
    state.failed(reason);
    if (reason !== before) log(`${LIST_METHODS[list]} could not be read: ${reason}`);
  }

  /** Tools that could not be read again may have changed. */
  #checkPins(source: ListSource): void {
    const isUnread = this.#states.get('tools')?.reason !== undefined;
    this.#pinCheck = this.#options.checkPins?.(isUnread ? undefined : this.#lists.tools, source);
  }

  #validated(reading: Reading, before: Lists, log: (text: string) => void): Lists {
    const lists = { ...before };
    for (const list of LIST_KEYS) {
      const found = reading[list];
      if (found === undefined) continue;
      const definitions = validateEntries(list, list === 'tools' ? found.filter(this.#isShown) : found, log);
      this.#definitions[list] = definitions;
      lists[list] = definitions.items;
    }
    return lists;
  }

  readonly #isShown = ({ name }: JsonObject): boolean =>
    typeof name !== 'string' || this.#options.isVisible(name);

  #report(changes: CatalogChange[], unaccepted: readonly string[] = []): void {
    for (const change of withUnaccepted(changes, this.#lists, unaccepted)) this.#options.changed?.(change);
  }
}

/** A reading that began before the wait shows what the server had then. One that failed is waited for no longer. */
function answers(reading: Reading, list: ListKey, { left }: Waiter): boolean {
  const version = reading.order?.get(list) ?? Number.POSITIVE_INFINITY;
  return reading[list] === undefined || version >= (left.get(list) ?? 0);
}

/** The catalog of one configured server, with its store on disk and its pins. */
export function createCatalog(
  spec: ServerSpec,
  { clock, log, catalogs, catalogChanged }: ServerDeps,
  reread: () => void,
  pinning?: Pinning,
): Catalog {
  const identity = catalogs && identityOf(spec);
  const store = identity === undefined ? undefined : catalogs;
  return new Catalog({
    wanted: LIST_KEYS.filter((list) => isWanted(spec, list)),
    reread,
    isVisible: toolFilter(spec.tools),
    clock,
    log,
    checkPins: pinning && ((...tools) => pinning.checkPins(...tools)),
    recall: store && (() => store.load(identity!)),
    keep: store && ((catalog) => store.save(identity!, catalog)),
    changed: (change) => catalogChanged?.(change),
  });
}
