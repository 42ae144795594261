import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import type { FleetHistory } from '../../fleet/fleet.js';
import type { Stamped } from '../live/store.js';
import { AsOf, Section } from '../parts/basics.js';
import {
  bars,
  COUNT_STEPS,
  fromZero,
  hourText,
  MARKS,
  markOf,
  marks,
  Plot,
  timeAxis,
  valueAxis,
} from '../parts/plot.js';
import { plural } from '../text/format.js';
import { type DaySeries, daySeries } from './day-series.js';

const HEIGHT = 132;

/** Calls, failures and restarts of all servers, as far back as the daemon has recorded them. */
export function DayChart({ history }: { history: Stamped<FleetHistory> }): VNode {
  const series = useMemo(() => daySeries(history.value), [history]);
  const data = useMemo(() => dataOf(series), [series]);
  const shown = useRef(series);
  shown.current = series;
  const [hovered, setHovered] = useState<number | null>(null);
  const { totals, span } = series;
  const label = `The last ${span}: ${plural(totals.calls, 'call')}, ${plural(totals.failures, 'failure')}, ${plural(totals.restarts, 'restart')}.`;
  return html`
    <${Section} title=${`Last ${span}`} class="day" aside=${html`<${AsOf} at=${history.at} />`}>
      <dl class="day-totals">
        <div><dt><i class="key calls" aria-hidden="true"></i>Calls</dt><dd>${totals.calls.toLocaleString('en')}</dd></div>
        <div><dt><i class="key failures" aria-hidden="true"></i>Failures</dt><dd>${totals.failures.toLocaleString('en')}</dd></div>
        <div><dt><i class="key restarts" aria-hidden="true"></i>Restarts</dt><dd>${totals.restarts.toLocaleString('en')}</dd></div>
        <p class="day-hover" aria-hidden="true">${hovered !== null && hovered < series.times.length && barText(series, hovered)}</p>
      </dl>
      <${Plot} data=${data} label=${label} height=${HEIGHT} options=${() => optionsFor(shown)} onHover=${setHovered} />
    <//>`;
}

function barText({ times, calls, failures, restarts, stepMs }: DaySeries, index: number): string {
  const from = times[index]! - stepMs / 2000;
  const span = `${hourText(from)}–${hourText(from + stepMs / 1000)}`;
  return `${span}: ${plural(calls[index]!, 'call')}, ${plural(failures[index]!, 'failure')}, ${plural(restarts[index]!, 'restart')}`;
}

/** A bar without calls is not drawn. */
function dataOf({ times, calls, failures, restarts }: DaySeries): uPlot.AlignedData {
  return [times, calls, failures.map((value) => value || null), restarts.map(markOf)];
}

function optionsFor(shown: {
  readonly current: DaySeries;
}): Pick<uPlot.Options, 'scales' | 'axes' | 'series'> {
  return {
    scales: {
      x: { time: true, range: (_plot, from, to) => widened(from, to, shown.current) },
      y: fromZero(4),
      marks: MARKS,
    },
    axes: [timeAxis(), valueAxis({ size: 44, space: 36, incrs: COUNT_STEPS })],
    series: [{}, bars('--chart-calls', 12), bars('--bad-dot', 12), marks('--chart-restarts')],
  };
}

/** The first and the last bar are whole. */
function widened(from: number, to: number, { stepMs }: DaySeries): [number, number] {
  return [from - stepMs / 2000, to + stepMs / 2000];
}
