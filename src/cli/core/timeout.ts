import { withTimeout } from '../../shared/async.js';
import { systemClock } from '../../shared/clock.js';
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
  const done = work.then((result) => ({ result }));
  const inTime = await withTimeout(timeout, done, systemClock);
  if (inTime !== undefined) return inTime.result;
  throw new TimedOutError(`not done within ${formatDuration(timeout)}`);
}
