import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/** In which a machine with better things to do still ends a process. Spent only on what fails. */
export const PATIENCE_MS = 25_000;
/** In which what was asked before the end may still be answered. */
const LAST_ANSWER_MS = 10_000;
const NO_ANSWER = Symbol('no answer');

const looking = new AsyncLocalStorage<{ last?: unknown }>();

/** Records the value of a check: a wait that fails reports the last one. */
export function seen<T>(what: T): T {
  const look = looking.getStore();
  if (look !== undefined) look.last = what;
  return what;
}

/**
 * Polls for what only the system knows. Resolves with the first answer that is not false, undefined or null. It ends in
 * any case, also where a check never answers.
 */
export async function until<T>(
  check: () => T | Promise<T>,
  withinMs = PATIENCE_MS,
  lastAnswerMs = LAST_ANSWER_MS,
): Promise<NonNullable<Exclude<T, false>>> {
  const look: { last?: unknown } = {};
  const deadline = performance.now() + withinMs;
  const done = new AbortController();
  const end = sleep(withinMs + lastAnswerMs, NO_ANSWER, { signal: done.signal }).catch(() => NO_ANSWER);
  try {
    for (;;) {
      const answer = await Promise.race([looking.run(look, check), end]);
      if (answer === NO_ANSWER)
        throw new Error(failure(withinMs, check, look, 'its last look has no answer'));
      if (answer !== false && answer !== undefined && answer !== null)
        return answer as NonNullable<Exclude<T, false>>;
      if (performance.now() > deadline) throw new Error(failure(withinMs, check, look, `it is ${answer}`));
      await sleep(20);
    }
  } finally {
    done.abort();
  }
}

function failure(withinMs: number, check: unknown, look: { last?: unknown }, how: string): string {
  const wanted = String(check).replaceAll(/\s+/g, ' ');
  const last = 'last' in look ? `; seen last: ${inspect(look.last, { depth: 6 }).slice(0, 2000)}` : '';
  return `not within ${withinMs} ms: ${wanted}; ${how}${last}`;
}
