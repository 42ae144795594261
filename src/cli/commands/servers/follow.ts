import type { Fleet } from '../../../fleet/fleet.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import type { CommandContext } from '../../core/command.js';
import { formatDuration } from '../../core/duration.js';
import { DAEMON_ENDED, printError } from '../../core/report-error.js';

/** Goes on until the user interrupts it, the daemon ends or --timeout passes. Without --agent it follows the global herd. */
export async function follow(
  context: CommandContext,
  begin: (fleet: Fleet) => Promise<void>,
): Promise<number> {
  const { globals, output } = context;
  let state: 'following' | 'ended' = 'following';
  let resolveEnd = (_status: number) => {};
  const ended = new Promise<number>((resolve) => {
    resolveEnd = resolve;
  });
  const end = (status: number) => {
    state = 'ended';
    resolveEnd(status);
  };
  const fleet = await context.fleet({
    autostart: false,
    viewMode: globals.agent === undefined ? 'herd' : 'agent',
    onLost: () => {
      if (state === 'ended') return;
      printError(output, DAEMON_ENDED);
      end(EXIT.notRunning);
    },
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end(EXIT.interrupted));
  await begin(fleet);
  // the daemon answers in order: with this answer it has read the subscription
  await fleet.status([]);
  output.note('listening; Ctrl-C ends it');
  const { timeout } = globals;
  if (timeout === undefined) return ended;
  setTimeout(() => {
    printError(output, {
      type: 'MCPTimeoutError',
      message: `ended after --timeout ${formatDuration(timeout)}`,
    });
    end(EXIT.timeout);
  }, timeout).unref();
  return ended;
}
