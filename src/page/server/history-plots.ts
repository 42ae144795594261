import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import type { FleetHistory, ServerHistory } from '../../fleet/fleet.js';
import { useRequest } from '../live/use-request.js';
import { AsOf, ErrorBox, Section } from '../parts/basics.js';
import { Choice } from '../parts/inputs.js';
import {
  bars,
  COUNT_STEPS,
  fromZero,
  hourText,
  MARKS,
  markOf,
  marks,
  Plot,
  type PlotProps,
  timeAxis,
  valueAxis,
} from '../parts/plot.js';
import { token } from '../parts/tokens.js';
import { memory, plural } from '../text/format.js';
import { sum } from '../text/series.js';

const RANGES = [
  ['60', '1 hour'],
  ['360', '6 hours'],
  ['1440', '24 hours'],
] as const;

type Range = (typeof RANGES)[number][0];

/** Memory, calls, failures and restarts of one server, minute by minute. */
export function HistoryPlots({ server }: { server: string }): VNode {
  const range = useSignal<Range>('60');
  const params = { servers: [server], minutes: Number(range.value) };
  const { fetched, error } = useRequest<FleetHistory>('fleet/history', params, { everyMs: 10_000 });
  const found = fetched?.value.servers[0];
  const choice = html`<${AsOf} at=${fetched?.at} /><${Choice} label="Show" value=${range.value} choices=${RANGES}
    onChange=${(value: Range) => (range.value = value)} />`;
  return html`
    <${Section} title="Over time" aside=${choice}>
      <div class="card-body plots">
        ${error && html`<${ErrorBox} error=${error} />`}
        ${found && html`<${Plots} key=${range.value} history=${fetched!.value} series=${found} />`}
      </div>
    <//>`;
}

function Plots({ history, series }: { history: FleetHistory; series: ServerHistory }): VNode {
  const start = Date.parse(history.from) / 1000;
  const times = series.calls.map((_, index) => start + (index * history.minute_ms) / 1000);
  const known = series.rss_bytes.filter((value) => value !== null);
  const most = known.length === 0 ? null : Math.max(...known);
  const memoryWords =
    most === null
      ? 'not known'
      : most === 0
        ? 'nothing ran at the end of a minute'
        : `at most ${memory(most)}`;
  const words = (calls: number, failures: number, restarts: number) =>
    `${plural(calls, 'call')}, ${failures} failed, ${plural(restarts, 'restart')}`;
  const { calls, failures, restarts, rss_bytes } = series;
  const memoryData = useMemo(() => [times, rss_bytes] as uPlot.AlignedData, [history]);
  const callsData = useMemo((): uPlot.AlignedData => {
    return [times, calls, failures.map((value) => value || null), restarts.map(markOf)];
  }, [history]);
  return html`
    <${Series} title="Memory" words=${memoryWords} data=${memoryData} options=${memoryOptions}
      at=${(index: number) => memory(rss_bytes[index] ?? null)} />
    <${Series} title="Calls" words=${words(sum(calls), sum(failures), sum(restarts))} data=${callsData} options=${callsOptions}
      at=${(index: number) => words(calls[index] ?? 0, failures[index] ?? 0, restarts[index] ?? 0)} />`;
}

interface SeriesProps {
  title: string;
  /** What a screen reader says of it. */
  words: string;
  data: uPlot.AlignedData;
  options: PlotProps['options'];
  /** The words for one minute. */
  at(index: number): string;
}

const HEIGHT = 140;

/** A plot, and above it what it shows in words: of the minute under the pointer, or of all. */
function Series({ title, words, data, options, at }: SeriesProps): VNode {
  const [hovered, setHovered] = useState<number | null>(null);
  const time = hovered === null ? undefined : data[0][hovered];
  const shown = time === undefined ? words : `${hourText(time)}: ${at(hovered!)}`;
  return html`
    <figure class="series">
      <figcaption><strong>${title}</strong> <span class="muted">${shown}</span></figcaption>
      <${Plot} data=${data} label=${`${title}: ${words}`} height=${HEIGHT} options=${options} onHover=${setHovered} />
    </figure>`;
}

const MIB = 1024 ** 2;
const MEMORY_STEPS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384].map(
  (step) => step * MIB,
);

function memoryOptions(): ReturnType<PlotProps['options']> {
  const colour = token('--chart-calls');
  const values = (_plot: uPlot, ticks: number[]) => ticks.map(memory);
  return {
    scales: { x: { time: true }, y: fromZero(4 * MIB) },
    axes: [timeAxis(), valueAxis({ size: 60, space: 32, incrs: MEMORY_STEPS, values })],
    series: [
      {},
      {
        stroke: colour,
        width: 1.5,
        fill: `${colour}33`,
        points: { show: true, size: 5, fill: colour, filter: alone },
      },
    ],
  };
}

function callsOptions(): ReturnType<PlotProps['options']> {
  return {
    scales: { x: { time: true }, y: fromZero(4), marks: MARKS },
    axes: [timeAxis(), valueAxis({ size: 40, space: 32, incrs: COUNT_STEPS })],
    series: [{}, bars('--chart-calls', 14), bars('--bad-dot', 14), marks('--chart-restarts')],
  };
}

/** A value between two unknown ones has no line: it gets a dot. */
const alone: uPlot.Series.Points.Filter = (plot, index) => {
  const values = plot.data[index] ?? [];
  return [...values.keys()].filter(
    (at) => values[at] != null && values[at - 1] == null && values[at + 1] == null,
  );
};
