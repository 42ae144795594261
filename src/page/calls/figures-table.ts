import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { ToolFigures } from '../../fleet/fleet.js';
import { AsOf, Empty, Section } from '../parts/basics.js';
import { type Column, Table } from '../parts/table.js';
import { count, milliseconds } from '../text/format.js';
import type { CallFilter } from './call-filter.js';

export interface FiguresTableProps {
  title: string;
  rows: readonly ToolFigures[];
  empty: string;
  /** When the audit was read. */
  at: number;
  change(next: Partial<CallFilter>): void;
}

const SHOWN = 5;

/** Tools with their figures; a click on one shows its calls. */
export function FiguresTable({ title, rows, empty, at, change }: FiguresTableProps): VNode {
  const columns: readonly Column<ToolFigures>[] = [
    {
      id: 'tool',
      title: 'Tool',
      isHeading: true,
      sort: ({ server, tool }) => `${server} ${tool}`,
      cell: ({
        server,
        tool,
      }) => html`<button type="button" class="link" onClick=${() => change({ server, tool })}>${server} <span
        class="mono">${tool}</span></button>`,
    },
    {
      id: 'calls',
      title: 'Calls',
      isNumber: true,
      sort: ({ calls }) => calls,
      cell: ({ calls }) => count(calls),
    },
    {
      id: 'failures',
      title: 'Failed',
      isNumber: true,
      sort: ({ failures }) => failures,
      cell: ({ failures, calls }) =>
        failures === 0
          ? html`<span class="zero">0</span>`
          : html`<span class="text-bad">${count(failures)} <span class="small-text">(${percent(failures, calls)})</span></span>`,
    },
    {
      id: 'p50',
      title: 'p50',
      isNumber: true,
      sort: ({ p50_ms }) => p50_ms,
      cell: ({ p50_ms }) => milliseconds(p50_ms),
    },
    {
      id: 'p99',
      title: 'p99',
      isNumber: true,
      sort: ({ p99_ms }) => p99_ms,
      cell: ({ p99_ms }) => milliseconds(p99_ms),
    },
  ];
  const keyOf = ({ server, tool }: ToolFigures) => `${server}/${tool}`;
  return html`
    <${Section} title=${title} class="figures" aside=${html`<${AsOf} at=${at} />`}>
      ${
        rows.length === 0
          ? html`<${Empty} title=${empty} />`
          : html`<${Table} caption=${title} columns=${columns} rows=${rows.slice(0, SHOWN)} keyOf=${keyOf} />`
      }
    <//>`;
}

function percent(part: number, whole: number): string {
  const value = Math.round((100 * part) / whole);
  return value === 0 ? '<1%' : `${value}%`;
}
