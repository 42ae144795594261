/** The last `limit` values, oldest first. A new array after each change, for signals. */
export function appended<Value>(
  kept: readonly Value[],
  added: readonly Value[],
  limit: number,
): readonly Value[] {
  if (added.length === 0) return kept;
  if (added.length >= limit) return added.slice(added.length - limit);
  return [...kept.slice(Math.max(0, kept.length + added.length - limit)), ...added];
}

/**
 * Collects values and hands them over together, when `schedule` calls. It keeps at most `limit` of them: the oldest are dropped and
 * counted, so a tab that the browser does not paint does not grow.
 */
export class Batch<Value> {
  readonly #limit: number;
  readonly #schedule: (flush: () => void) => void;
  readonly #take: (values: readonly Value[], dropped: number) => void;
  #values: Value[] = [];
  #dropped = 0;
  #isScheduled = false;

  constructor(
    limit: number,
    schedule: (flush: () => void) => void,
    take: (values: readonly Value[], dropped: number) => void,
  ) {
    this.#limit = limit;
    this.#schedule = schedule;
    this.#take = take;
  }

  add(value: Value): void {
    this.#values.push(value);
    // cut at twice the limit, so that each value is moved once at most
    if (this.#values.length > 2 * this.#limit) this.#cut();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#schedule(() => this.#flush());
  }

  #cut(): void {
    const surplus = this.#values.length - this.#limit;
    if (surplus <= 0) return;
    this.#dropped += surplus;
    this.#values = this.#values.slice(surplus);
  }

  #flush(): void {
    this.#isScheduled = false;
    this.#cut();
    const values = this.#values;
    const dropped = this.#dropped;
    this.#values = [];
    this.#dropped = 0;
    this.#take(values, dropped);
  }
}
