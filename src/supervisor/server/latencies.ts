/** The latest durations, enough to tell the usual from the slow. Adding one costs a store. */
const KEPT = 512;

export class Latencies {
  readonly #ring = new Float64Array(KEPT);
  #count = 0;

  add(ms: number): void {
    this.#ring[this.#count % KEPT] = ms;
    this.#count += 1;
  }

  /** Null before the first. */
  quantile(share: number): number | null {
    const size = Math.min(this.#count, KEPT);
    if (size === 0) return null;
    const sorted = this.#ring.slice(0, size).sort();
    const value = sorted[Math.min(size - 1, Math.floor(share * size))]!;
    return Math.round(value * 100) / 100;
  }
}
