import { removeFromBlock } from './block-list.js';
import { uneditable } from './edit-error.js';
import { removeFromFlow } from './flow-list.js';
import { type ListKey, locateList } from './locate.js';
import { parseTokens } from './parse.js';
import type { TextEdit } from './text-edit.js';

/** The edit that removes one entry. Comments outside it stay; a list without entries becomes `[]`. */
export function removeEntry(text: string, key: ListKey, index: number): TextEdit {
  const location = locateList(text, parseTokens(text), key);
  let edit: TextEdit | undefined;
  if (location.kind === 'block') edit = removeFromBlock(text, location, index);
  if (location.kind === 'flow') edit = removeFromFlow(text, location.list, index);
  if (edit !== undefined) return edit;
  const offset = 'head' in location ? location.head.start : 0;
  throw uneditable(text, offset, `'${key}' has no entry ${index}`, 'name an entry of the list');
}
