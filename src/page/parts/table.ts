import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { type Order, type SortValue, sorted } from '../text/sort.js';
import { Glyph } from './glyph.js';

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
  /** Only screen readers read the title. */
  isTitleUnseen?: boolean;
  /** Narrow screens do without it. */
  isExtra?: boolean;
}

export interface TableProps<Row> {
  /** What the table shows; screen readers read it. */
  caption: string;
  /** The same array for as long as the cells are made in the same way. */
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
  const heading = (column: Column<Row>) => {
    const isChosen = chosen.value?.id === column.id;
    const order = isChosen ? chosen.value!.order : undefined;
    const sort = order === undefined ? undefined : order === 'up' ? 'ascending' : 'descending';
    return html`
      <th scope="col" class=${classOf(column)} aria-sort=${sort}>
        ${
          column.sort === undefined
            ? html`<span class=${column.isTitleUnseen === true ? 'unseen' : undefined}>${column.title}</span>`
            : html`<button type="button" class="sort" onClick=${() => choose(column)}>${column.title}${
                order !== undefined && html`<${Glyph} shape=${order} />`
              }</button>`
        }
      </th>`;
  };
  return html`
    <div class="table-box" tabindex="0" role="group" aria-label=${caption}>
      <table>
        <caption class="unseen">${caption}</caption>
        <thead><tr>${columns.map(heading)}</tr></thead>
        <tbody>
          ${shown.map(
            (row) => html`
            <${RowView} key=${keyOf(row)} row=${row} columns=${columns} name=${rowClass?.(row)} more=${below?.(row)} />`,
          )}
        </tbody>
      </table>
    </div>`;
}

interface RowProps<Row> {
  row: Row;
  columns: readonly Column<Row>[];
  name: string | undefined;
  more: ComponentChildren;
}

/** A row is made again only if it or the columns changed: a list that grows at its top costs its new rows. */
function RowView<Row>({ row, columns, name, more }: RowProps<Row>): VNode {
  const cells = useMemo(
    () =>
      columns.map((column) =>
        column.isHeading === true
          ? html`<th scope="row" class=${classOf(column)}>${column.cell(row)}</th>`
          : html`<td class=${classOf(column)} data-title=${column.title}>${column.cell(row)}</td>`,
      ),
    [row, columns],
  );
  return html`
    <tr class=${name}>${cells}</tr>
    ${more && html`<tr class="below"><td colspan=${columns.length}>${more}</td></tr>`}`;
}

function classOf<Row>({ isNumber, isExtra }: Column<Row>): string | undefined {
  return [isNumber ? 'number' : '', isExtra ? 'extra' : ''].join(' ').trim() || undefined;
}
