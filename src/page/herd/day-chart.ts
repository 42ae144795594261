import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import type { FleetHistory } from '../../fleet/fleet.js';
import type { Stamped } from '../live/store.js';
import { AsOf, Section } from '../parts/basics.js';
import { onThemeChange, token } from '../parts/tokens.js';
import { clock, plural } from '../text/format.js';
import { type DaySeries, daySeries } from './day-series.js';

const HEIGHT = 132;

/** Calls, failures and restarts of all servers, as far back as the daemon has recorded them. */
export function DayChart({ history }: { history: Stamped<FleetHistory> }): VNode {
  const series = useMemo(() => daySeries(history.value), [history]);
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
      <${Plot} series=${series} label=${label} onHover=${setHovered} />
    <//>`;
}

function barText({ times, calls, failures, restarts, stepMs }: DaySeries, index: number): string {
  const from = times[index]! * 1000 - stepMs / 2;
  const until = `${clock(from).slice(0, 5)}–${clock(from + stepMs).slice(0, 5)}`;
  return `${until}: ${plural(calls[index]!, 'call')}, ${plural(failures[index]!, 'failure')}, ${plural(restarts[index]!, 'restart')}`;
}

interface PlotProps {
  series: DaySeries;
  label: string;
  onHover(index: number | null): void;
}

function Plot({ series, label, onHover }: PlotProps): VNode {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(series);
  latest.current = series;

  useEffect(() => {
    const element = box.current!;
    const make = () => {
      plot.current?.destroy();
      plot.current = new uPlot(
        optionsFor(element.clientWidth, latest, onHover),
        dataOf(latest.current),
        element,
      );
    };
    make();
    const resized = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    resized.observe(element);
    const end = onThemeChange(make);
    return () => {
      end();
      resized.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, []);
  useEffect(() => plot.current?.setData(dataOf(series)), [series]);

  return html`<div class="plot" ref=${box} role="img" aria-label=${label}></div>`;
}

/** A bar without calls is not drawn, and a restart is a mark at the top. */
function dataOf({ times, calls, failures, restarts }: DaySeries): uPlot.AlignedData {
  return [
    times,
    calls,
    failures.map((value) => value || null),
    restarts.map((value) => (value > 0 ? 0.94 : null)),
  ];
}

function optionsFor(
  width: number,
  shown: { readonly current: DaySeries },
  onHover: PlotProps['onHover'],
): uPlot.Options {
  const bars = uPlot.paths.bars!({ size: [0.8, 12] });
  const axis = {
    stroke: token('--muted'),
    font: `11px ${token('--font')}`,
    ticks: { show: false },
  };
  return {
    width,
    height: HEIGHT,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { setScale: false, x: false, y: false } },
    scales: {
      x: { time: true, range: (_plot, from, to) => widened(from, to, shown.current) },
      y: { range: (_plot, _min, max) => [0, Math.max(4, max * 1.12)] },
      marks: { range: [0, 1] },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 24, space: 70, values: (_plot, ticks) => ticks.map(hourText) },
      {
        ...axis,
        grid: { stroke: token('--line'), width: 1 },
        size: 44,
        space: 36,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000],
      },
    ],
    series: [
      {},
      { fill: token('--chart-calls'), paths: bars, points: { show: false } },
      { fill: token('--bad-dot'), paths: bars, points: { show: false } },
      {
        scale: 'marks',
        paths: () => null,
        points: {
          show: true,
          size: 7,
          fill: token('--chart-restarts'),
          stroke: token('--surface'),
          width: 1,
        },
      },
    ],
    hooks: { setCursor: [({ cursor }) => onHover(cursor.idx ?? null)] },
  };
}

/** The first and the last bar are whole. */
function widened(from: number, to: number, { stepMs }: DaySeries): [number, number] {
  return [from - stepMs / 2000, to + stepMs / 2000];
}

function hourText(seconds: number): string {
  return clock(seconds * 1000).slice(0, 5);
}
