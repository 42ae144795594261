import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import type { FleetHistory, ServerHistory } from '../../fleet/fleet.js';
import { useRequest } from '../live/use-request.js';
import { AsOf, ErrorBox, Section } from '../parts/basics.js';
import { Choice } from '../parts/inputs.js';
import { onThemeChange, token } from '../parts/tokens.js';
import { clock, memory, plural } from '../text/format.js';
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
  return html`
    <${Plot} title="Memory" words=${memoryWords} times=${times} isMemory
      at=${(index: number) => memory(rss_bytes[index] ?? null)}
      lines=${[{ values: rss_bytes, colour: '--chart-calls', kind: 'area' }]} />
    <${Plot} title="Calls" words=${words(sum(calls), sum(failures), sum(restarts))} times=${times}
      at=${(index: number) => words(calls[index] ?? 0, failures[index] ?? 0, restarts[index] ?? 0)}
      lines=${[
        { values: calls, colour: '--chart-calls', kind: 'bars' },
        { values: failures.map((value) => value || null), colour: '--bad-dot', kind: 'bars' },
        {
          values: restarts.map((value) => (value > 0 ? 0.94 : null)),
          colour: '--chart-restarts',
          kind: 'marks',
        },
      ]} />`;
}

interface Line {
  values: readonly (number | null)[];
  colour: `--${string}`;
  /** `marks`: dots at the top. */
  kind: 'area' | 'bars' | 'marks';
}

interface PlotProps {
  title: string;
  /** What a screen reader says of it. */
  words: string;
  times: readonly number[];
  lines: readonly Line[];
  /** The words for one minute. */
  at(index: number): string;
  isMemory?: boolean;
}

const HEIGHT = 140;

function Plot({ title, words, times, lines, at, isMemory = false }: PlotProps): VNode {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [hovered, setHovered] = useState<number | null>(null);
  const data = [times, ...lines.map(({ values }) => values)] as uPlot.AlignedData;
  const latest = useRef(data);
  latest.current = data;
  useEffect(() => {
    const parent = box.current!;
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(
        optionsOf(parent.clientWidth, lines, isMemory, setHovered),
        latest.current,
        parent,
      );
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
  useEffect(() => plot.current?.setData(data), [times.at(-1), ...lines.map(({ values }) => values.join())]);
  const shown =
    hovered === null || times[hovered] === undefined ? words : `${hourText(times[hovered]!)}: ${at(hovered)}`;
  return html`
    <figure class="series">
      <figcaption><strong>${title}</strong> <span class="muted">${shown}</span></figcaption>
      <div ref=${box} role="img" aria-label=${`${title}: ${words}`}></div>
    </figure>`;
}

const MIB = 1024 ** 2;
const MEMORY_STEPS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384].map(
  (step) => step * MIB,
);
const COUNT_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000];

function optionsOf(
  width: number,
  lines: readonly Line[],
  isMemory: boolean,
  onHover: (index: number | null) => void,
): uPlot.Options {
  const axis: uPlot.Axis = {
    stroke: token('--muted'),
    font: `11px ${token('--font')}`,
    ticks: { show: false },
  };
  const least = isMemory ? 4 * MIB : 4;
  return {
    width,
    height: HEIGHT,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { setScale: false, x: false, y: false } },
    scales: {
      x: { time: true },
      y: { range: (_, __, most) => [0, Math.max(least, (most ?? 0) * 1.12)] },
      marks: { range: [0, 1] },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 24, space: 70, values: (_, ticks) => ticks.map(hourText) },
      {
        ...axis,
        grid: { stroke: token('--line'), width: 1 },
        size: isMemory ? 60 : 40,
        space: 32,
        incrs: isMemory ? MEMORY_STEPS : COUNT_STEPS,
        ...(isMemory && { values: (_: uPlot, ticks: number[]) => ticks.map(memory) }),
      },
    ],
    series: [{}, ...lines.map(seriesOf)],
    hooks: { setCursor: [({ cursor }) => onHover(cursor.idx ?? null)] },
  };
}

function seriesOf({ kind, colour }: Line): uPlot.Series {
  const fill = token(colour);
  if (kind === 'area')
    return {
      stroke: fill,
      width: 1.5,
      fill: `${fill}33`,
      points: { show: true, size: 5, fill, filter: alone },
    };
  if (kind === 'bars')
    return { fill, paths: uPlot.paths.bars!({ size: [0.8, 14] }), points: { show: false } };
  return {
    scale: 'marks',
    paths: () => null,
    points: { show: true, size: 7, fill, stroke: token('--surface'), width: 1 },
  };
}

/** A value between two unknown ones has no line: it gets a dot. */
const alone: uPlot.Series.Points.Filter = (plot, index) => {
  const values = plot.data[index] ?? [];
  return [...values.keys()].filter(
    (at) => values[at] != null && values[at - 1] == null && values[at + 1] == null,
  );
};

function hourText(seconds: number): string {
  return clock(seconds * 1000).slice(0, 5);
}
