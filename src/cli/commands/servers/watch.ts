import type { Fleet } from '../../../fleet/fleet.js';
import { type CommandContext, UsageError } from '../../core/command.js';
import { EXIT } from '../../core/exit-codes.js';
import { paintStates } from '../../ui/colors.js';
import { statusTable } from './status-table.js';

/** What no event tells of: how long, how many calls, how much memory, and what servers of other views do. */
const TICK_MS = 2000;
/** Events come in swarms; what a swarm comes to is one change. */
const PAUSE_MS = 50;

/**
 * The herd as it changes, until the user or the daemon ends it: drawn over and over on a terminal; a line of JSON, or a
 * table, a change elsewhere.
 */
export async function watch(call: CommandContext): Promise<number> {
  const { args, flags, output } = call;
  if (flags.wait === true)
    throw new UsageError('--watch does not end, so there is nothing to wait for', 'leave out --wait');
  const names = args.length === 0 ? undefined : [...args];
  const isLive = output.columns !== undefined && !output.isJson;
  let end: (status: number) => void = () => {};
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  const fleet = await call.fleet({
    autostart: false,
    viewMode: 'if allowed',
    onLost: () => end(EXIT.notRunning),
  });
  let last = '';
  const look = async () => {
    last = await show(call, fleet, names, isLive, last);
  };
  // the first look says what cannot be shown at all: no such server
  await look();
  // not before: where the daemon does not answer, a signal ends the command as it ends any
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => end(EXIT.interrupted));
  const again = repeat(look, () => end(EXIT.notRunning));
  const unsubscribe = fleet.subscribe(['state'], again.soon);
  // what changed before the daemon knew that somebody listens
  again.soon();
  const release = isLive ? readKeys(end, again.soon) : () => {};
  const status = await ended;
  again.stop();
  unsubscribe();
  release();
  output.draw(undefined);
  // the screen is gone; what it showed last stays
  if (isLive) output.print(last, paintStates);
  if (status === EXIT.notRunning) output.error('error: the daemon has ended');
  return status;
}

/** Shows what there is; elsewhere than on a terminal only when it has changed. Answers with what was shown. */
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

/** Looks again when told to, soon and one at a time, and now and then. */
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

/** `q` and Ctrl-C end it; a terminal of another size is drawn anew. Answers with the way back. */
function readKeys(end: (status: number) => void, resized: () => void): () => void {
  const { stdin, stdout } = process;
  const hear = (keys: Buffer) => {
    if (keys.includes('\u0003')) end(EXIT.interrupted);
    else if (keys.includes('q')) end(EXIT.ok);
  };
  stdout.on('resize', resized);
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.on('data', hear);
  return () => {
    stdout.off('resize', resized);
    stdin.off('data', hear);
    if (stdin.isTTY) stdin.setRawMode(false);
    stdin.pause();
  };
}
