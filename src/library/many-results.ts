import type { ToolResult } from '../fleet/fleet.js';
import { withText } from '../fleet/tool-text.js';
import { onAbort } from '../shared/async.js';
import type { Arrival, ManyResults } from './api.js';

type Begin = (
  onResult: (index: number, result: ToolResult) => void,
  signal: AbortSignal,
) => Promise<ToolResult[]>;

/** Many calls that begin now. Their results can be awaited and looped over, also both, also late. */
export function manyResults(begin: Begin, signal: AbortSignal | undefined): ManyResults {
  const arrived: Arrival[] = [];
  const enough = new AbortController();
  const forget = onAbort(signal, () => enough.abort(signal?.reason));
  let state: 'open' | 'settled' = 'open';
  let news = later();
  const changed = () => {
    news.resolve();
    news = later();
  };
  const arrive = (index: number, result: ToolResult) => {
    arrived.push({ index, result: withText(result) });
    changed();
  };
  const all = begin(arrive, enough.signal)
    .then((results) => results.map(withText))
    .finally(() => {
      state = 'settled';
      forget();
      changed();
    });
  // who only loops hears of it there
  all.catch(() => undefined);

  async function* arrivals(): AsyncGenerator<Arrival, void, undefined> {
    let isLeft = true;
    try {
      for (let at = 0; ; at += 1) {
        while (at >= arrived.length && state === 'open') await news.promise;
        const arrival = arrived[at];
        if (arrival === undefined) break;
        yield arrival;
      }
      isLeft = false;
      await all;
    } finally {
      if (isLeft) enough.abort(new Error('the other results are not wanted'));
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
