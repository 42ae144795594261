import type { Clock } from '../link/clock.js';
import type { JsonObject } from '../link/session/message.js';
import { type Lists, NO_LISTS } from './lists.js';

/** What a server offers, as far as it is known, without what its config hides; and who waits to know more. */
export class Catalog {
  readonly #isVisible: (tool: string) => boolean;
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #lists: Lists | undefined;
  #toolNames: ReadonlySet<string> | undefined;
  #isStale = false;

  constructor(isVisible: (tool: string) => boolean, clock: Clock) {
    this.#isVisible = isVisible;
    this.#clock = clock;
  }

  get lists(): Lists | undefined {
    return this.#lists;
  }

  /** Tools that may be called; undefined while nobody knows. */
  get toolNames(): ReadonlySet<string> | undefined {
    return this.#toolNames;
  }

  /** Nothing was read yet, or it is to be read again. */
  get isWanting(): boolean {
    return this.#lists === undefined || this.#isStale;
  }

  /** What is known was read before. */
  get isStale(): boolean {
    return this.#isStale;
  }

  get isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  /** Where the tools are not known, the server is to say whether it has one. */
  hasTool(name: string): boolean {
    return this.#isVisible(name) && this.#toolNames?.has(name) !== false;
  }

  /** A list that could not be read stays what it was. */
  take(lists: Lists): void {
    const before = this.#lists ?? NO_LISTS;
    this.#lists = {
      tools: lists.tools === undefined ? before.tools : this.#visible(lists.tools),
      prompts: lists.prompts ?? before.prompts,
      resources: lists.resources ?? before.resources,
    };
    this.#isStale = false;
    this.giveUp();
  }

  /** It is to be read again; until then what is known stands. */
  outdate(): void {
    this.#isStale = this.#lists !== undefined;
  }

  /** Resolves when the lists are there, nobody will bring them, or the time is up. */
  wait(ms: number, ask: (giveUp: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        this.#clock.clearTimeout(timer);
        resolve();
      };
      const timer = this.#clock.setTimeout(done, ms);
      this.#waiting.add(done);
      ask(done);
    });
  }

  /** Nobody will bring them. */
  giveUp(): void {
    for (const done of [...this.#waiting]) done();
  }

  /** A name that comes twice means the first: nobody could call the second. */
  #visible(tools: readonly JsonObject[]): JsonObject[] {
    const names = new Set<string>();
    this.#toolNames = names;
    return tools.filter(({ name }) => {
      if (typeof name !== 'string' || names.has(name) || !this.#isVisible(name)) return false;
      return names.add(name);
    });
  }
}
