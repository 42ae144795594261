import { singleLine, truncate, widthOf } from './text.js';

/** Columns that line up, as wide as their widest cell; the last one is not padded. Cuts lines that are longer than `columns`. */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  columns = Number.POSITIVE_INFINITY,
): string {
  const lines = [header, ...rows].map((cells) => cells.map(singleLine));
  const widths = header.map((_, column) =>
    lines.reduce((most, cells) => Math.max(most, widthOf(cells[column] ?? '')), 0),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        column === cells.length - 1 ? cell : cell + ' '.repeat(widths[column]! - widthOf(cell)),
      )
      .join('  ')
      .trimEnd();
  return lines.map((cells) => truncate(line(cells), columns)).join('\n');
}

export function bytes(count: number | null): string {
  if (count === null) return '-';
  if (count === 0) return '0';
  return count < 1024 * 1024 ? `${Math.ceil(count / 1024)}K` : `${Math.round(count / 1024 / 1024)}M`;
}
