import type { HttpOptions } from '../../src/registry/index.js';

/** Real requests without waiting: pauses are recorded and skipped. */
export function instantRetries(more: Partial<HttpOptions> = {}): HttpOptions & { pauses: number[] } {
  const pauses: number[] = [];
  return {
    fetch,
    sleep: async (ms) => void pauses.push(ms),
    random: () => 0.5,
    tryMs: 5000,
    pauses,
    ...more,
  };
}
