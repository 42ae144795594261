import { removeFromBlock } from './block-list.js';
import { uneditable } from './edit-error.js';
import { removeFromFlow } from './flow-list.js';
import { type ListKey, locateList } from './locate.js';
import { parseTokens } from './parse.js';
import type { TextEdit } from './text-edit.js';

/** The change that takes out one entry. Comments outside of it stay; a list without entries becomes `[]`. */
export function removeEntry(text: string, key: ListKey, index: number): TextEdit {
  const place = locateList(text, parseTokens(text), key);
  let splice: TextEdit | undefined;
  if (place.kind === 'block') splice = removeFromBlock(text, place, index);
  if (place.kind === 'flow') splice = removeFromFlow(text, place.list, index);
  if (splice !== undefined) return splice;
  const offset = 'head' in place ? place.head.start : 0;
  throw uneditable(text, offset, `'${key}' has no entry ${index}`, 'name an entry of the list');
}
