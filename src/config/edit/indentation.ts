import type { CST } from 'yaml';
import { columnOf, lineStart } from './lines.js';

/** How a file indents, in columns. */
export interface Indentation {
  /** From a key to the keys below it. */
  step: number;
  /** From a key to the dashes below it; 0 when dashes are in the column of their key. */
  listOffset: number;
  /** From a dash to its content: 2 for `- name`. */
  dashWidth: number;
  /** The dash width of a list inside an item of a list. */
  innerDashWidth: number;
}

/** Reads each width from its first occurrence in the tokens; a width that does not occur gets the usual value. */
export function detectIndentation(
  text: string,
  tokens: readonly (CST.Token | null | undefined)[],
): Indentation {
  const found: Partial<Indentation> = {};
  for (const token of tokens) look(text, token, found, 'dashWidth');
  const { step = 2, dashWidth = 2 } = found;
  const { listOffset = step, innerDashWidth = dashWidth } = found;
  return { step, listOffset, dashWidth, innerDashWidth };
}

function look(
  text: string,
  token: CST.Token | null | undefined,
  found: Partial<Indentation>,
  width: 'dashWidth' | 'innerDashWidth',
): void {
  if (token?.type === 'block-map') {
    const column = columnOfFirst(text, token);
    for (const item of token.items) {
      const value = item.value;
      if (value?.type === 'block-map') found.step ??= Math.max(columnOfFirst(text, value) - column, 1);
      if (value?.type === 'block-seq') found.listOffset ??= Math.max(columnOfFirst(text, value) - column, 0);
      look(text, value, found, width);
    }
  } else if (token?.type === 'block-seq') {
    for (const item of token.items) {
      const dash = item.start.find((part) => part.type === 'seq-item-ind');
      const value = item.value;
      const props = item.start.some((part) => part.type === 'anchor' || part.type === 'tag');
      if (dash !== undefined && value !== undefined && !props) {
        const sameLine = lineStart(text, value.offset) === lineStart(text, dash.offset);
        if (sameLine) found[width] ??= Math.max(value.offset - dash.offset, 2);
      }
      look(text, value, found, 'innerDashWidth');
    }
  }
}

function columnOfFirst(text: string, token: CST.BlockMap | CST.BlockSequence): number {
  const first: CST.CollectionItem | undefined = token.items[0];
  const offset = first?.key?.offset ?? first?.start.find((part) => part.type === 'seq-item-ind')?.offset;
  return columnOf(text, offset ?? token.offset);
}
