import type { Clock } from './clock.js';

/** Resolves with the work, or when it takes longer than this. */
export function withTimeout(ms: number, work: Promise<unknown>, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => resolve(), ms);
    const done = () => clock.clearTimeout(timer);
    work.then(() => resolve(), reject).finally(done);
  });
}
