import type { FleetHistory } from '../../fleet/fleet.js';
import { added, bucketed, sum } from '../text/series.js';

export interface DaySeries {
  /** The beginning of each bar, in seconds. */
  times: number[];
  calls: number[];
  failures: number[];
  restarts: number[];
  /** How long a bar lasts. */
  stepMs: number;
  totals: { calls: number; failures: number; restarts: number };
}

const BAR_MINUTES = 10;

/** All servers together, in bars of ten minutes. The newest bar ends with the present minute. */
export function daySeries({ from, minute_ms, servers }: FleetHistory): DaySeries {
  const length = servers[0]?.calls.length ?? 0;
  const bars = Math.ceil(length / BAR_MINUTES);
  const total = (key: 'calls' | 'failures' | 'restarts'): number[] =>
    bucketed(
      added(
        servers.map((server) => server[key]),
        length,
      ),
      bars,
      'sum',
    ) as number[];
  const end = Date.parse(from) + length * minute_ms;
  const stepMs = BAR_MINUTES * minute_ms;
  const times = Array.from({ length: bars }, (_, index) => (end - (bars - index) * stepMs) / 1000);
  const calls = total('calls');
  const failures = total('failures');
  const restarts = total('restarts');
  const totals = { calls: sum(calls), failures: sum(failures), restarts: sum(restarts) };
  return { times, calls, failures, restarts, stepMs, totals };
}
