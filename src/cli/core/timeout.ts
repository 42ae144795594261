import type { Globals } from './command.js';
import { formatDuration } from './duration.js';

class TimedOutError extends Error {
  readonly type = 'MCPTimeoutError';
  readonly why = '--timeout passed; the daemon continues the request';
  readonly fix = 'give it more time, or see "toolherd status"';
}

/** What has a --timeout: the context of a command, or a limit of another origin. */
interface Limited {
  globals: Pick<Globals, 'timeout'>;
}

/** Waits as long as --timeout says, and then throws. The work is not cancelled. */
export async function limitByTimeoutOption<T>({ globals }: Limited, work: Promise<T>): Promise<T> {
  const { timeout } = globals;
  if (timeout === undefined) return work;
  const late = Symbol('late');
  const result = await resultWithin(timeout, work, late);
  if (result !== late) return result as T;
  throw new TimedOutError(`not done within ${formatDuration(timeout)}`);
}

/** The result of the work, or `late` after `ms`. How late work ends is of no interest. */
export async function resultWithin<T, L>(ms: number, work: Promise<T>, late: L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<L>((resolve) => {
    timer = setTimeout(() => resolve(late), ms);
  });
  work.catch(() => undefined);
  return Promise.race([work, over]).finally(() => clearTimeout(timer));
}
