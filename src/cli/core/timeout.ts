import type { CommandContext } from './command.js';
import { parseDuration } from './duration.js';

/** What --timeout allows was not enough. */
class TimedOutError extends Error {
  readonly type = 'MCPTimeoutError';
  readonly why = 'this is how long --timeout lets the command wait; what was begun goes on';
  readonly fix = 'give it more time, or see "toolherd status"';
}

/** Waits as long as --timeout says. The work itself is not taken back. */
export async function withTimeout<T>({ flags: { timeout } }: CommandContext, work: Promise<T>): Promise<T> {
  if (typeof timeout !== 'string') return work;
  const ms = parseDuration(timeout);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimedOutError(`not done within ${timeout}`)), ms);
  });
  // when it is late, how it ends is nobody's business any more
  work.catch(() => undefined);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
