import type { ToolResult } from '../fleet/fleet.js';
import { onAbort } from '../shared/async.js';
import type { Arrival, ManyResults } from './api.js';
import { withText } from './tool-text.js';

type Begin = (
  onResult: (index: number, result: ToolResult) => void,
  signal: AbortSignal,
) => Promise<ToolResult[]>;

/** Begins many calls. Their results can be awaited, looped over, or both, also after the calls have ended. */
export function manyResults(begin: Begin, signal: AbortSignal | undefined): ManyResults {
  const arrived: Arrival[] = [];
  const stop = new AbortController();
  const forget = onAbort(signal, () => stop.abort(signal?.reason));
  let state: 'open' | 'settled' = 'open';
  let next = later();
  const changed = () => {
    next.resolve();
    next = later();
  };
  const arrive = (index: number, result: ToolResult) => {
    arrived.push({ index, result: withText(result) });
    changed();
  };
  const all = begin(arrive, stop.signal)
    .then((results) => results.map(withText))
    .finally(() => {
      state = 'settled';
      forget();
      changed();
    });
  // a script that only loops gets the error in its loop
  all.catch(() => undefined);

  async function* arrivals(): AsyncGenerator<Arrival, void, undefined> {
    let isAbandoned = true;
    try {
      for (let at = 0; ; at += 1) {
        while (at >= arrived.length && state === 'open') await next.promise;
        const arrival = arrived[at];
        if (arrival === undefined) break;
        yield arrival;
      }
      isAbandoned = false;
      await all;
    } finally {
      if (isAbandoned) stop.abort(new Error('the other results are not wanted'));
    }
  }

  return Object.assign(all, { [Symbol.asyncIterator]: arrivals });
}

function later(): { promise: Promise<void>; resolve(): void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
