import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { clock } from '../text/format.js';
import { onThemeChange, token } from './tokens.js';

export interface PlotProps {
  data: uPlot.AlignedData;
  /** What a screen reader says of it. */
  label: string;
  /** In pixels. */
  height: number;
  /** Asked for anew with each theme: colours are drawn. Width, height and the cursor are given. */
  options(): Pick<uPlot.Options, 'series'> & Partial<uPlot.Options>;
  /** The position of the pointer in the data; null: it is not there. */
  onHover(index: number | null): void;
}

/** Series over time, on a canvas as wide as there is room. */
export function Plot({ data, label, height, options, onHover }: PlotProps): VNode {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(data);
  latest.current = data;
  useEffect(() => {
    const element = box.current!;
    const draw = () => {
      plot.current?.destroy();
      const all: uPlot.Options = {
        ...FRAME,
        ...options(),
        width: element.clientWidth,
        height,
        hooks: { setCursor: [({ cursor }) => onHover(cursor.idx ?? null)] },
      };
      plot.current = new uPlot(all, latest.current, element);
    };
    draw();
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    const endTheme = onThemeChange(draw);
    return () => {
      endTheme();
      resized.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, []);
  useEffect(() => plot.current?.setData(data), [data]);
  return html`<div class="plot" ref=${box} role="img" aria-label=${label}></div>`;
}

/** The last label of the time needs room at the right. */
const FRAME = {
  padding: [8, 18, 0, 0],
  legend: { show: false },
  cursor: { y: false, points: { show: false }, drag: { setScale: false, x: false, y: false } },
} satisfies Partial<uPlot.Options>;

const axis = (): uPlot.Axis => ({
  stroke: token('--muted'),
  font: `11px ${token('--font')}`,
  ticks: { show: false },
});

/** The times below the plot. */
export function timeAxis(): uPlot.Axis {
  return {
    ...axis(),
    grid: { show: false },
    size: 24,
    space: 70,
    values: (_plot, ticks) => ticks.map(hourText),
  };
}

/** The values beside the plot. */
export function valueAxis(more: uPlot.Axis): uPlot.Axis {
  return { ...axis(), grid: { stroke: token('--line'), width: 1 }, ...more };
}

/** Between two lines of a plot of counts. */
export const COUNT_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000];

/** From zero, with room above the largest value; `least`: what a plot of small values shows. */
export function fromZero(least: number): uPlot.Scale {
  return { range: (_plot, _min, most) => [0, Math.max(least, (most ?? 0) * 1.12)] };
}

/** Marks are dots at the top, on a scale from 0 to 1. */
export const MARKS: uPlot.Scale = { range: [0, 1] };

export function markOf(value: number): number | null {
  return value > 0 ? 0.94 : null;
}

export function marks(colour: `--${string}`): uPlot.Series {
  return {
    scale: 'marks',
    paths: () => null,
    points: { show: true, size: 7, fill: token(colour), stroke: token('--surface'), width: 1 },
  };
}

/** `most`: pixels of a bar where there is much room. */
export function bars(colour: `--${string}`, most: number): uPlot.Series {
  return { fill: token(colour), paths: uPlot.paths.bars!({ size: [0.8, most] }), points: { show: false } };
}

/** `12:05`, of seconds. */
export function hourText(seconds: number): string {
  return clock(seconds * 1000).slice(0, 5);
}
