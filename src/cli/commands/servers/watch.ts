import type { Fleet } from '../../../fleet/fleet.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import type { CommandContext } from '../../core/command.js';
import { DAEMON_ENDED, printError } from '../../core/report-error.js';
import { paintStates } from '../../ui/colors.js';
import { statusTable } from './status-table.js';

/** For changes without an event: durations, calls, memory, and the servers of other agents. */
const TICK_MS = 2000;
/** Events come in bursts: a burst is shown as one change. */
const PAUSE_MS = 50;

/**
 * Shows every change until the user or the daemon ends it. A terminal is redrawn; any other output gets a table, or with
 * --json a line, for each change.
 */
export async function watch(context: CommandContext, names: readonly string[] | undefined): Promise<number> {
  const { output } = context;
  const isLive = output.columns !== undefined && !output.isJson;
  let end: (status: number) => void = () => {};
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  const fleet = await context.fleet({
    autostart: false,
    viewMode: 'if allowed',
    onLost: () => end(EXIT.notRunning),
  });
  let last = '';
  const look = async () => {
    last = await show(context, fleet, names, isLive, last);
  };
  // the first look fails if there is no such server
  await look();
  // not earlier: while the daemon does not answer, a signal must end the command
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => end(EXIT.interrupted));
  const again = repeat(look, () => end(EXIT.notRunning));
  const unsubscribe = fleet.subscribe(['state'], again.soon);
  // for changes before the daemon had read the subscription
  again.soon();
  const release = isLive ? readKeys(end, again.soon) : () => {};
  const status = await ended;
  again.stop();
  unsubscribe();
  release();
  output.draw(undefined);
  // the screen is restored: the last table stays visible
  if (isLive) output.print(last, paintStates);
  if (status === EXIT.notRunning) printError(output, DAEMON_ENDED);
  return status;
}

/** Shows the table; outside a terminal only when it has changed. Answers with what was shown. */
async function show(
  { output, environment }: CommandContext,
  fleet: Fleet,
  names: readonly string[] | undefined,
  isLive: boolean,
  last: string,
): Promise<string> {
  const { servers, daemon } = await fleet.status(names);
  const text = statusTable(servers, Date.now(), output.columns, environment);
  if (isLive) {
    output.draw(`${text}\n\nq or Ctrl-C ends it`, paintStates);
    return text;
  }
  const state = JSON.stringify(
    servers.map(({ name, agent, state, detail, incarnation }) => [name, agent, state, detail, incarnation]),
  );
  if (state === last) return last;
  output.jsonLine({ servers, daemon });
  output.print(text);
  return state;
}

/** Looks again after `soon`, one look at a time, and every TICK_MS. */
function repeat(look: () => Promise<void>, failed: () => void) {
  let state: 'resting' | 'looking' | 'wanted' = 'resting';
  const run = async () => {
    state = 'looking';
    await look().catch(failed);
    const isWanted = (state as string) === 'wanted';
    state = 'resting';
    if (isWanted) soon();
  };
  let timer: NodeJS.Timeout | undefined;
  const soon = () => {
    if (state !== 'resting') state = 'wanted';
    else
      timer ??= setTimeout(() => {
        timer = undefined;
        void run();
      }, PAUSE_MS);
  };
  const tick = setInterval(soon, TICK_MS);
  const stop = () => {
    clearInterval(tick);
    clearTimeout(timer);
  };
  return { soon, stop };
}

/** `q` and Ctrl-C end it; a terminal that changes its size is redrawn. Answers with a function that undoes this. */
function readKeys(end: (status: number) => void, resized: () => void): () => void {
  const { stdin, stdout } = process;
  const onKeys = (keys: Buffer) => {
    if (keys.includes('\u0003')) end(EXIT.interrupted);
    else if (keys.includes('q')) end(EXIT.ok);
  };
  stdout.on('resize', resized);
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.on('data', onKeys);
  return () => {
    stdout.off('resize', resized);
    stdin.off('data', onKeys);
    if (stdin.isTTY) stdin.setRawMode(false);
    stdin.pause();
  };
}
