import type { FleetHistory } from '../../fleet/fleet.js';
import { HISTORY_MINUTES } from '../../fleet/history.js';
import { added, bucketed, sum } from '../text/series.js';

export interface DaySeries {
  /** What the series covers: `hour`, `3 hours`, … `24 hours`. */
  span: string;
  minutes: number;
  /** The middle of each bar, in seconds. */
  times: number[];
  calls: number[];
  failures: number[];
  restarts: number[];
  /** How long a bar lasts. */
  stepMs: number;
  totals: { calls: number; failures: number; restarts: number };
}

/** The minutes of a window, the minutes of its bars, and its name. */
const WINDOWS = [
  [60, 1, 'hour'],
  [180, 2, '3 hours'],
  [360, 5, '6 hours'],
  [720, 5, '12 hours'],
  [HISTORY_MINUTES, 10, '24 hours'],
] as const;

/** The smallest window that has everything that was recorded: a daemon of ten minutes would fill one bar of a day. */
export function windowOf({ since, from, minute_ms, servers }: FleetHistory): (typeof WINDOWS)[number] {
  const end = Date.parse(from) + (servers[0]?.calls.length ?? 0) * minute_ms;
  const recorded = Math.ceil((end - Date.parse(since)) / minute_ms);
  return WINDOWS.find(([minutes]) => recorded <= minutes) ?? WINDOWS[WINDOWS.length - 1]!;
}

/** All servers together, in bars. The newest bar ends with the present minute. */
export function daySeries(history: FleetHistory): DaySeries {
  const { from, minute_ms, servers } = history;
  const [most, barMinutes, span] = windowOf(history);
  const length = servers[0]?.calls.length ?? 0;
  const minutes = Math.min(length, most);
  const bars = Math.ceil(minutes / barMinutes);
  const total = (key: 'calls' | 'failures' | 'restarts'): number[] => {
    const each = servers.map((server) => server[key].slice(-minutes));
    return bucketed(added(each, minutes), bars, 'sum') as number[];
  };
  const end = Date.parse(from) + length * minute_ms;
  const stepMs = barMinutes * minute_ms;
  const times = Array.from({ length: bars }, (_, index) => (end - (bars - index - 0.5) * stepMs) / 1000);
  const calls = total('calls');
  const failures = total('failures');
  const restarts = total('restarts');
  const totals = { calls: sum(calls), failures: sum(failures), restarts: sum(restarts) };
  return { span, minutes, times, calls, failures, restarts, stepMs, totals };
}
