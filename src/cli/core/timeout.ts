import type { Globals } from './command.js';
import { formatDuration } from './duration.js';

/** The work took longer than --timeout allows. */
class TimedOutError extends Error {
  readonly type = 'MCPTimeoutError';
  readonly why = 'this is how long --timeout lets the command wait; what was begun goes on';
  readonly fix = 'give it more time, or see "toolherd status"';
}

/** What has a --timeout: the context of a command, or a limit of another origin. */
export interface Limited {
  globals: Pick<Globals, 'timeout'>;
}

/** Waits as long as --timeout says. The work itself goes on when the time is over. */
export async function withTimeout<T>(limited: Limited, work: Promise<T>): Promise<T> {
  const { timeout } = limited.globals;
  if (timeout === undefined) return work;
  const late = Symbol('late');
  const result = await within(timeout, work, late);
  if (result !== late) return result as T;
  throw new TimedOutError(`not done within ${formatDuration(timeout)}`);
}

/** The result of the work, or `late` when the time is over first. How late work ends is of no interest. */
export async function within<T, L>(ms: number, work: Promise<T>, late: L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<L>((resolve) => {
    timer = setTimeout(() => resolve(late), ms);
  });
  work.catch(() => undefined);
  return Promise.race([work, over]).finally(() => clearTimeout(timer));
}
