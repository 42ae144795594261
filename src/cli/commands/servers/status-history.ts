/** `status --history`. Its own bundle: `status` is loaded more often than any other command. */
import type { FleetHistory, ServerHistory } from '../../../fleet/fleet.js';
import { EXIT } from '../../../shared/report/exit-codes.js';
import type { CommandContext } from '../../core/command.js';
import { limitByTimeoutOption } from '../../core/timeout.js';
import { grouped, sparkline } from '../../ui/sparkline.js';
import { bytes, table } from '../../ui/table.js';
import { NO_SERVERS } from '../../ui/text.js';

/** Windows in minutes, each with its name and the minutes of one bar. */
const WINDOWS = [
  { minutes: 60, name: 'hour', bars: 30 },
  { minutes: 360, name: '6 hours', bars: 36 },
  { minutes: 1440, name: '24 hours', bars: 48 },
] as const;

/** From this width on the bars of memory fit beside those of calls. */
const WIDE = 120;

export async function showHistory(
  context: CommandContext,
  names: readonly string[] | undefined,
): Promise<number> {
  const { output } = context;
  const fleet = await context.fleet({ autostart: false, viewMode: 'if allowed' });
  const history = await limitByTimeoutOption(context, fleet.history({ servers: names }));
  output.json({ ...history });
  output.print(historyTable(history, Date.now(), output.columns));
  return EXIT.ok;
}

/** The shortest window that has all that was recorded. */
export function historyTable(history: FleetHistory, now: number, columns?: number): string {
  const { servers, since, minute_ms } = history;
  if (servers.length === 0) return NO_SERVERS;
  const recorded = (now - Date.parse(since)) / minute_ms;
  const { minutes, name, bars } = WINDOWS.find((one) => one.minutes >= recorded) ?? WINDOWS[2];
  const hasMemory = (columns ?? WIDE) >= WIDE;
  const header = ['NAME', 'CALLS', `PER ${minutes / bars} MIN`, 'FAILED', 'RESTARTS', 'MEMORY'];
  const rows = servers.map((server) => {
    const calls = server.calls.slice(-minutes);
    const memory = server.rss_bytes.slice(-minutes);
    return [
      server.name,
      String(sum(calls)),
      sparkline(grouped(calls, bars, sum)),
      String(sum(server.failures.slice(-minutes))),
      String(sum(server.restarts.slice(-minutes))),
      memoryText(server),
      ...(hasMemory ? [sparkline(grouped(memory, bars, highest))] : []),
    ];
  });
  const title = `the last ${name}, recorded since ${since}`;
  return [title, table(hasMemory ? [...header, ''] : header, rows, columns)].join('\n');
}

function memoryText({ rss_bytes }: ServerHistory): string {
  const now = rss_bytes.at(-1) ?? null;
  const most = highest(rss_bytes);
  return most === null || most === 0 ? '-' : `${bytes(now)} (most ${bytes(most)})`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function highest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}
