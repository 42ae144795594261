import type { Clock } from '../link/clock.js';
import type { JsonObject } from '../link/session/message.js';
import { type CatalogChange, changesOf, withNews } from './catalog-change.js';
import { type Definitions, sift } from './definitions.js';
import { LIST_NAMES, type ListName, type Lists, NO_LISTS, type Reading } from './lists.js';
import type { Block } from './pins/blocked.js';
import type { Verdict } from './pins/pinning.js';

export interface CatalogOptions {
  /** Whether the config lets a tool of this name be seen. */
  isVisible(tool: string): boolean;
  clock: Clock;
  log(text: string): void;
  /** What was known when the server last ran; looked for when somebody first wants to know. */
  recall?: (() => Lists | undefined) | undefined;
  keep?: ((lists: Lists) => void) | undefined;
  changed?: ((change: CatalogChange) => void) | undefined;
  /** Compares the tools with what was pinned; undefined: they could not be read. `isFresh`: they were, just now. */
  vet?: ((tools: readonly JsonObject[] | undefined, isFresh: boolean) => Verdict) | undefined;
}

/** What a server offers, as far as it is known, without what its config hides; and who waits to know more. */
export class Catalog {
  readonly #options: CatalogOptions;
  readonly #waiting = new Set<() => void>();
  #memory: 'unasked' | 'asked' = 'unasked';
  #lists: Lists | undefined;
  /** Nothing of `#lists` was said in this life of ours. */
  #isCached = false;
  #isKept = false;
  readonly #definitions: Partial<Record<keyof Lists, Definitions>> = {};
  /** What may not be as it was: remembered from an earlier life, or the server said that it has changed. */
  readonly #doubted = new Set<ListName>();
  readonly #goodUntil: Partial<Record<ListName, number>> = {};
  #isStale = false;
  /** What became of the tools when they were last compared, and whether there was nothing to compare. */
  #verdict: Verdict | undefined;
  #isUnread = false;

  constructor(options: CatalogOptions) {
    this.#options = options;
  }

  get lists(): Lists | undefined {
    this.#recall();
    return this.#lists;
  }

  /** It is what the server offered before this daemon began, and nobody has asked since. */
  get isCached(): boolean {
    this.#recall();
    return this.#isCached;
  }

  /** What may be used of a list, by its key; undefined while nobody knows. */
  keysOf(list: keyof Lists): ReadonlySet<string> | undefined {
    this.#recall();
    return this.#definitions[list]?.keys;
  }

  /** What is wrong with a definition. */
  problemOf(list: keyof Lists, key: string): string | undefined {
    return this.#definitions[list]?.problems.get(key);
  }

  /** Nothing is known, or it is to be read again: whoever asks has to wait. */
  get isMissing(): boolean {
    this.#recall();
    return this.#lists === undefined || this.#isStale;
  }

  /** There is a reason to read it; nobody need wait. */
  get isWanting(): boolean {
    return this.isMissing || this.#doubted.size > 0;
  }

  /** What is known was read before. */
  get isStale(): boolean {
    return this.#isStale;
  }

  get isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  isDoubted(list: ListName): boolean {
    this.#recall();
    return this.#doubted.has(list);
  }

  /** The server said how long it would be good for, and that is over. */
  isExpired(list: ListName): boolean {
    return this.#options.clock.now() >= (this.#goodUntil[list] ?? Number.POSITIVE_INFINITY);
  }

  /** Where the tools are not known for certain, the server is to say whether it has one. */
  hasTool(name: string): boolean {
    if (!this.#options.isVisible(name)) return false;
    const keys = this.keysOf('tools');
    if (this.#verdict?.blockOf?.(name) !== undefined) return false;
    return keys?.has(name) !== false || this.isDoubted('tools');
  }

  /** Why a tool that is offered may not be called. Decided with its list, so that a call costs nothing. */
  blockOf(tool: string): Block | undefined {
    this.#recall();
    return this.#verdict?.blockOf?.(tool);
  }

  /** How many tools are not what was pinned. */
  get unaccepted(): number {
    this.#recall();
    return this.#verdict?.unaccepted ?? 0;
  }

  /** What was pinned, or what is made of it, is not what it was. */
  vetAgain(): void {
    if (this.#verdict === undefined) return;
    const tools = this.#lists?.tools ?? [];
    const names = tools.map(({ name }) => String(name));
    const before = names.map((name) => this.blockOf(name) === undefined);
    this.#vet(this.#isUnread ? undefined : tools, false);
    const changed = names.filter((name, at) => (this.blockOf(name) === undefined) !== before[at]);
    if (changed.length === 0) return;
    this.#options.changed?.({ list: 'tools', count: tools.length, added: [], removed: [], changed });
  }

  /** A list that was not read, or could not be, stays what it was. */
  take(reading: Reading): void {
    this.#recall();
    const before = this.#lists ?? NO_LISTS;
    const asked = LIST_NAMES.filter((name) => name in reading);
    this.#lists = this.#sifted(reading, before, this.#options.log);
    for (const name of asked) {
      // what was known before and could not be read again may still have changed
      if (!isLost(name, reading, before)) this.#doubted.delete(name);
      const ttlMs = reading.ttlMs?.[name];
      if (ttlMs === undefined) delete this.#goodUntil[name];
      else this.#goodUntil[name] = this.#options.clock.now() + ttlMs;
    }
    this.#isCached &&= asked.length < LIST_NAMES.length;
    if ('tools' in reading) this.#vet(reading.tools && this.#lists.tools, true);
    this.#tell(before, this.#lists, 'tools' in reading ? this.#verdict?.news : undefined);
    // who wants it all afresh is not served by a part
    if (asked.length < LIST_NAMES.length) return;
    this.#isStale = false;
    this.giveUp();
  }

  /** It is to be read again; until then what is known stands. */
  outdate(): void {
    this.#isStale = this.lists !== undefined;
  }

  /** The server says that this has changed, and will be asked what it is now. */
  doubt(list: ListName): void {
    if (this.lists !== undefined) this.#doubted.add(list);
  }

  /** Resolves when the lists are there, nobody will bring them, or the time is up. */
  wait(ms: number, ask: (giveUp: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      const { clock } = this.#options;
      const done = () => {
        this.#waiting.delete(done);
        clock.clearTimeout(timer);
        resolve();
      };
      const timer = clock.setTimeout(done, ms);
      this.#waiting.add(done);
      ask(done);
    });
  }

  /** Nobody will bring them. */
  giveUp(): void {
    for (const done of [...this.#waiting]) done();
  }

  #recall(): void {
    if (this.#memory === 'asked') return;
    this.#memory = 'asked';
    const recalled = this.#options.recall?.();
    if (recalled === undefined) return;
    this.#isCached = true;
    this.#isKept = true;
    // its faults were said when it was read
    this.#lists = this.#sifted(recalled, NO_LISTS, () => {});
    for (const name of LIST_NAMES) this.#doubted.add(name);
    if (this.#lists.tools !== undefined) this.#vet(this.#lists.tools, false);
  }

  #vet(tools: readonly JsonObject[] | undefined, isFresh: boolean): void {
    this.#isUnread = tools === undefined;
    this.#verdict = this.#options.vet?.(tools, isFresh);
  }

  #sifted(reading: Reading, before: Lists, log: (text: string) => void): Lists {
    const lists = { ...before };
    for (const list of Object.keys(NO_LISTS) as (keyof Lists)[]) {
      const found = reading[list];
      if (found === undefined) continue;
      const definitions = sift(list, list === 'tools' ? found.filter(this.#isShown) : found, log);
      this.#definitions[list] = definitions;
      lists[list] = definitions.items;
    }
    return lists;
  }

  readonly #isShown = ({ name }: JsonObject): boolean =>
    typeof name !== 'string' || this.#options.isVisible(name);

  #tell(before: Lists, after: Lists, news: readonly string[] = []): void {
    const changes = changesOf(before, after);
    if (changes.length > 0 || !this.#isKept) {
      this.#isKept = true;
      this.#options.keep?.(after);
    }
    for (const change of withNews(changes, after, news)) this.#options.changed?.(change);
  }
}

/** It was known, and this reading did not bring it. */
function isLost(name: ListName, reading: Reading, before: Lists): boolean {
  const parts: readonly (keyof Lists)[] = name === 'resources' ? ['resources', 'templates'] : [name];
  return parts.some((part) => before[part] !== undefined && reading[part] === undefined);
}
