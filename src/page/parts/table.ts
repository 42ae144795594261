import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { type Order, type SortValue, sorted } from '../text/sort.js';

export interface Column<Row> {
  id: string;
  title: string;
  cell(row: Row): ComponentChildren;
  /** Absent: the column cannot be sorted. */
  sort?: ((row: Row) => SortValue) | undefined;
  /** Numbers stand at the end of their cell, the largest first when sorted. */
  isNumber?: boolean;
  /** The heading of its row, for screen readers. */
  isHeading?: boolean;
  /** Narrow screens do without it. */
  isExtra?: boolean;
}

export interface TableProps<Row> {
  /** What the table shows; screen readers read it. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
  /** Absent: the order of `rows`. */
  initialSort?: { id: string; order: Order } | undefined;
  rowClass?: ((row: Row) => string) | undefined;
  /** A second row below a row: details. Undefined: none. */
  below?: ((row: Row) => ComponentChildren | undefined) | undefined;
}

/** A table that is sorted by a click on a heading; a third click gives the order of `rows` again. */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  initialSort,
  rowClass,
  below,
}: TableProps<Row>): VNode {
  const chosen = useSignal<{ id: string; order: Order } | undefined>(initialSort);
  const by = columns.find(({ id }) => id === chosen.value?.id);
  const shown = by?.sort === undefined ? rows : sorted(rows, by.sort, chosen.value!.order);
  const choose = ({ id, isNumber = false }: Column<Row>) => {
    const first: Order = isNumber ? 'down' : 'up';
    if (chosen.value?.id !== id) chosen.value = { id, order: first };
    else if (chosen.value.order === first) chosen.value = { id, order: first === 'up' ? 'down' : 'up' };
    else chosen.value = initialSort;
  };
  const classOf = ({ isNumber, isExtra }: Column<Row>) =>
    [isNumber ? 'number' : '', isExtra ? 'extra' : ''].join(' ').trim() || undefined;
  const heading = (column: Column<Row>) => {
    const isChosen = chosen.value?.id === column.id;
    const order = isChosen ? chosen.value!.order : undefined;
    const sort = order === undefined ? undefined : order === 'up' ? 'ascending' : 'descending';
    return html`
      <th scope="col" class=${classOf(column)} aria-sort=${sort}>
        ${
          column.sort === undefined
            ? column.title
            : html`<button type="button" class="sort" onClick=${() => choose(column)}>${column.title}<span
              aria-hidden="true" class="arrow">${order === undefined ? '' : order === 'up' ? '▲' : '▼'}</span></button>`
        }
      </th>`;
  };
  return html`
    <div class="table-box" tabindex="0" role="region" aria-label=${caption}>
      <table>
        <caption class="unseen">${caption}</caption>
        <thead><tr>${columns.map(heading)}</tr></thead>
        <tbody>
          ${shown.map((row) => {
            const more = below?.(row);
            const key = keyOf(row);
            return html`
              <tr key=${key} class=${rowClass?.(row)}>
                ${columns.map((column) =>
                  column.isHeading === true
                    ? html`<th scope="row" class=${classOf(column)}>${column.cell(row)}</th>`
                    : html`<td class=${classOf(column)} data-title=${column.title}>${column.cell(row)}</td>`,
                )}
              </tr>
              ${more && html`<tr key=${`${key}/below`} class="below"><td colspan=${columns.length}>${more}</td></tr>`}`;
          })}
        </tbody>
      </table>
    </div>`;
}
