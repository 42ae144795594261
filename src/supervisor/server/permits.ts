/**
 * How many servers may start at once: fifty cold `npx` in one moment would starve those that run. First come, first
 * served. Whoever asks gets a way to give back, which is also the way to stop asking.
 */
export class Permits {
  readonly #most: number;
  readonly #queue = new Set<() => void>();
  #used = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** `granted` may come before this returns, and what it sets off may be over by then: hence the way back in it. */
  ask(granted: (release: () => void) => void): () => void {
    let state: 'queued' | 'granted' | 'over' = 'queued';
    const release = () => {
      const was = state;
      state = 'over';
      this.#queue.delete(grant);
      if (was !== 'granted') return;
      this.#used -= 1;
      this.#grantNext();
    };
    const grant = () => {
      this.#used += 1;
      state = 'granted';
      granted(release);
    };
    this.#queue.add(grant);
    this.#grantNext();
    return release;
  }

  /** Asks when `after` is over: a changed server must not run beside its predecessor. */
  askAfter(after: Promise<unknown>, granted: () => void): () => void {
    let release = () => {};
    let isOver = false;
    void after.then(() => {
      if (isOver) return;
      release = this.ask((back) => {
        release = back;
        granted();
      });
    });
    return () => {
      isOver = true;
      release();
    };
  }

  #grantNext(): void {
    const [next] = this.#queue;
    if (next === undefined || this.#used >= this.#most) return;
    this.#queue.delete(next);
    next();
  }
}
