import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { bucketed } from '../text/series.js';

export interface SparklineProps {
  /** Oldest first; null: not known. */
  values: readonly (number | null)[];
  /** Drawn over `values` in the colour of failures. */
  marks?: readonly number[] | undefined;
  /** What a screen reader says: it has the numbers that matter. */
  label: string;
  kind?: 'bars' | 'line';
  /** How many bars or points. */
  points?: number;
}

const HEIGHT = 24;

/** A small picture of a series. */
export function Sparkline({ values, marks, label, kind = 'bars', points = 48 }: SparklineProps): VNode {
  const join = kind === 'bars' ? 'sum' : 'last';
  const shown = bucketed(values, points, join);
  const top = Math.max(1, ...shown.map((value) => value ?? 0));
  const y = (value: number) => HEIGHT - 1 - (value / top) * (HEIGHT - 3);
  return html`
    <svg class="spark" viewBox="0 0 ${shown.length} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label=${label}>
      <title>${label}</title>
      ${
        kind === 'line'
          ? html`<path class="spark-line" d=${linePath(shown, y)} vector-effect="non-scaling-stroke" />`
          : html`<path class="spark-bars" d=${barPath(shown, y)} />
            ${marks && html`<path class="spark-marks" d=${barPath(bucketed(marks, points, 'sum'), y)} />`}`
      }
      <path class="spark-base" d="M0 ${HEIGHT - 0.5}H${shown.length}" vector-effect="non-scaling-stroke" />
    </svg>`;
}

function barPath(values: readonly (number | null)[], y: (value: number) => number): string {
  return values
    .map((value, x) => (value ? `M${x + 0.1} ${HEIGHT - 1}V${y(value).toFixed(1)}h0.8V${HEIGHT - 1}z` : ''))
    .join('');
}

/** One path with a gap where a value is not known. */
function linePath(values: readonly (number | null)[], y: (value: number) => number): string {
  let isDrawing = false;
  return values
    .map((value, x) => {
      if (value === null) {
        isDrawing = false;
        return '';
      }
      const step = `${isDrawing ? 'L' : 'M'}${x + 0.5} ${y(value).toFixed(1)}`;
      isDrawing = true;
      return step;
    })
    .join('');
}
