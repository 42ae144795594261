import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { FleetHistory, ServerHistory } from '../../fleet/fleet.js';
import { useRequest } from '../live/use-request.js';
import { AsOf, ErrorBox, Section } from '../parts/basics.js';
import { Choice } from '../parts/inputs.js';
import { onThemeChange, token } from '../parts/tokens.js';
import { memory } from '../text/format.js';
import { sum } from '../text/series.js';

const RANGES = [
  ['60', '1 hour'],
  ['360', '6 hours'],
  ['1440', '24 hours'],
] as const;

/** Memory, calls, failures and restarts of one server, minute by minute. */
export function HistoryPlots({ server }: { server: string }): VNode {
  const range = useSignal<'60' | '360' | '1440'>('60');
  const params = { servers: [server], minutes: Number(range.value) };
  const { fetched, error } = useRequest<FleetHistory>('fleet/history', params, { everyMs: 10_000 });
  const found = fetched?.value.servers[0];
  const choice = html`<${AsOf} at=${fetched?.at} /><${Choice} label="Show" value=${range.value} choices=${RANGES}
    onChange=${(value: '60' | '360' | '1440') => (range.value = value)} />`;
  return html`
    <${Section} title="Over time" aside=${choice}>
      <div class="card-body plots">
        ${error && html`<${ErrorBox} error=${error} />`}
        ${found && html`<${Plots} history=${fetched!.value} series=${found} />`}
      </div>
    <//>`;
}

function Plots({ history, series }: { history: FleetHistory; series: ServerHistory }): VNode {
  const start = Date.parse(history.from) / 1000;
  const times = series.calls.map((_, index) => start + (index * history.minute_ms) / 1000);
  const known = series.rss_bytes.filter((value) => value !== null);
  const memoryWords =
    known.length === 0
      ? 'its memory is not known'
      : `from ${memory(Math.min(...known))} to ${memory(Math.max(...known))}`;
  const counts = `${sum(series.calls)} calls, ${sum(series.failures)} failed, ${sum(series.restarts)} restarts`;
  return html`
    <${Plot} title="Memory" words=${memoryWords} times=${times} isMemory lines=${[
      { label: 'memory', values: series.rss_bytes, colour: '--chart-calls', kind: 'area' },
    ]} />
    <${Plot} title="Calls" words=${counts} times=${times} lines=${[
      { label: 'calls', values: series.calls, colour: '--chart-calls', kind: 'bars' },
      { label: 'failed', values: series.failures, colour: '--bad-dot', kind: 'bars' },
      { label: 'restarts', values: series.restarts, colour: '--chart-restarts', kind: 'points' },
    ]} />`;
}

interface Line {
  label: string;
  values: readonly (number | null)[];
  colour: `--${string}`;
  kind: 'area' | 'bars' | 'points';
}

interface PlotProps {
  title: string;
  /** What a screen reader says of it. */
  words: string;
  times: readonly number[];
  lines: readonly Line[];
  isMemory?: boolean;
}

const HEIGHT = 150;

function Plot({ title, words, times, lines, isMemory = false }: PlotProps): VNode {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const data = [times, ...lines.map(({ values }) => values)] as uPlot.AlignedData;
  useEffect(() => {
    const parent = box.current;
    if (parent === null) return;
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(parent, lines, isMemory), dataOf.current, parent);
    };
    draw();
    const resized = new ResizeObserver(() =>
      plot.current?.setSize({ width: parent.clientWidth, height: HEIGHT }),
    );
    resized.observe(parent);
    // colours are drawn, so another theme needs another drawing
    const endTheme = onThemeChange(draw);
    return () => {
      resized.disconnect();
      endTheme();
      plot.current?.destroy();
      plot.current = null;
    };
  }, []);
  const dataOf = useRef(data);
  dataOf.current = data;
  useEffect(() => plot.current?.setData(data), [times, lines]);
  return html`
    <figure class="plot">
      <figcaption><strong>${title}</strong> <span class="muted">${words}</span></figcaption>
      <div ref=${box} role="img" aria-label=${`${title}: ${words}`}></div>
    </figure>`;
}

function optionsOf(parent: HTMLElement, lines: readonly Line[], isMemory: boolean): uPlot.Options {
  const axis: uPlot.Axis = {
    stroke: token('--muted'),
    font: `11px ${token('--font')}`,
    grid: { stroke: token('--line'), width: 1 },
    ticks: { show: false },
  };
  const values = isMemory
    ? { values: (_: uPlot, ticks: number[]) => ticks.map((tick) => memory(tick)), size: 62 }
    : { size: 40 };
  return {
    width: parent.clientWidth,
    height: HEIGHT,
    cursor: { y: false, points: { size: 5 } },
    legend: { live: true },
    scales: { y: { range: (_, __, most) => [0, Math.max(isMemory ? 1024 ** 2 : 4, most * 1.1)] } },
    axes: [axis, { ...axis, ...values }],
    series: [{ value: '{HH}:{mm}' }, ...lines.map((line) => seriesOf(line, token(line.colour), isMemory))],
  };
}

function seriesOf({ label, kind }: Line, colour: string, isMemory: boolean): uPlot.Series {
  const value = isMemory ? (_: uPlot, raw: number | null) => memory(raw) : undefined;
  const common = { label, stroke: colour, ...(value && { value }) };
  if (kind === 'area') return { ...common, width: 1.5, fill: `${colour}33`, points: { show: false } };
  if (kind === 'bars')
    return {
      ...common,
      width: 0,
      fill: colour,
      paths: uPlot.paths.bars!({ size: [0.8, 24] }),
      points: { show: false },
    };
  return { ...common, paths: () => null, points: { show: true, size: 6, fill: colour, filter: nonZero } };
}

/** Only minutes with a restart have a point. */
const nonZero: uPlot.Series.Points.Filter = (plot, index) => {
  const values = plot.data[index] ?? [];
  return [...values.keys()].filter((at) => (values[at] ?? 0) > 0);
};
